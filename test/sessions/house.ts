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

/** Any dependency of the sessions, the agents that they know, how many processes they may have, and their clock. */
interface HouseOptions extends Partial<SessionDeps> {
  known?: readonly Agent[]
  maxProcesses?: number
  time?: FakeTime
}

/** Sessions with a driver and a clock that a test holds in its hands. */
export function house(store: Store = memoryStore(), options: HouseOptions = {}) {
  const driver = new FakeDriver()
  const { known = agents, maxProcesses = 10, time = new FakeTime(), ...deps } = options
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
    sweep: async () => undefined,
    pool: new WarmPool(maxProcesses),
    idleProcessMs: 60_000,
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
