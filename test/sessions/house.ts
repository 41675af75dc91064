import { createHash } from 'node:crypto'
import type { Agent } from '../../src/agents/agent.ts'
import { agents } from '../../src/agents/index.ts'
import type { Entry, EventType, Policy } from '../../src/model/index.ts'
import type { NewSession } from '../../src/model/session/new-session.ts'
import type { SessionDeps } from '../../src/sessions/deps.ts'
import { WarmPool } from '../../src/sessions/process/warm-pool.ts'
import type { Session } from '../../src/sessions/session.ts'
import { Sessions } from '../../src/sessions/sessions.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Store } from '../../src/stores/store.ts'
import { FakeDriver, FakeTime } from './fake-driver.ts'

/** Sessions with a driver and a clock that a test holds in its hands. */
export function house(
  store: Store = memoryStore(),
  maxProcesses = 10,
  sweep: () => Promise<void> = async () => undefined,
  known: readonly Agent[] = agents,
  limit: (policy: Policy) => Policy = (policy) => policy,
  versionOf: (agent: Agent) => Promise<string | undefined> = async () => undefined,
  more: Partial<SessionDeps> & { time?: FakeTime } = {},
) {
  const driver = new FakeDriver()
  const { time = new FakeTime(), ...deps } = more
  let ids = 0
  const sessions = new Sessions({
    agents: new Map(known.map((agent) => [agent.id, agent])),
    store,
    driver,
    clock: { now: () => time.now, monotonic: () => time.now },
    timers: time,
    // Most tests let days pass, and no lease of theirs can be lost.
    background: new FakeTime(),
    journal: true,
    sweep,
    pool: new WarmPool(maxProcesses),
    idleProcessMs: 60_000,
    limit,
    versionOf,
    isInside: (path) => path.startsWith('/workspace/'),
    newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
    digest: (text) => `digest:${text}`,
    newHash: () => createHash('sha256'),
    ...deps,
  })
  const open = (policy: Partial<Policy> = {}, more: Partial<NewSession> = {}): Promise<Session> =>
    sessions.create({
      agent: 'claude',
      cwd: '/',
      policy: { approval: 'ask', sandbox: 'none', ...policy },
      ...more,
    })
  const log = (session: Session): Promise<readonly Entry[]> => store.read(session.id, 0, 1000)
  const types = async (session: Session): Promise<EventType[]> =>
    (await log(session)).map(({ event }) => event.type)
  return { sessions, store, driver, time, open, log, types }
}

/** Claude's own words for a turn that says one thing and ends well. */
export const init = { type: 'system', subtype: 'init', session_id: 'native-1', model: 'm', tools: [] }
export const said = (text: string, id = 'msg_1') => ({
  type: 'assistant',
  message: { id, model: 'm', content: [{ type: 'text', text }] },
})
export const result = (text: string) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: text,
})
export const asks = (id: string, tool = 'Bash', command = 'rm x') => ({
  type: 'control_request',
  request_id: id,
  request: {
    subtype: 'can_use_tool',
    tool_name: tool,
    input: tool === 'AskUserQuestion' ? { questions: [{ question: command, options: [] }] } : { command },
    tool_use_id: `tool-${id}`,
  },
})
