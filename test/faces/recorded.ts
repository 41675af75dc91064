import { randomUUID } from 'node:crypto'
import type { Agent, Launch } from '../../src/agents/agent.ts'
import { agents } from '../../src/agents/index.ts'
import type { Driver, Run, RunExit } from '../../src/drivers/driver.ts'
import { type Frame, jsonFrame } from '../../src/framing/frame.ts'
import { fingerprintOf } from '../../src/gateway/http/idempotency.ts'
import { DEFAULT_POLICY } from '../../src/model/index.ts'
import { newRecord, recordEvent } from '../../src/sessions/machine/record.ts'
import type { Store } from '../../src/stores/store.ts'
import { decodeFixture, type Fixture, fixtures } from '../agents/fixtures.ts'

/** What is hard about agents, with each of them: deltas, tools, questions, steering, big lines, and bad ends. */
const NAMES = [
  'claude/bidi_multi',
  'claude/bidi_steer_queue',
  'claude/bidi_ask',
  'claude/unicode',
  'claude/subagent',
  'claude/sigterm_bash',
  'claude/err529',
  'codex/as_approval_accept',
  'codex/file',
  'gemini/tool_bash',
  'gemini/bigout',
  'acp-gemini/concurrent_prompt',
  'acp-qwen/text',
  'opencode/file_edit',
  'opencode-serve/question',
  'pi/live_permission_denied',
  'board/broken_off',
]

export const recordings: readonly Fixture[] = NAMES.map((name) => {
  const found = fixtures.find((fixture) => fixture.name === name)
  if (!found) throw new Error(`there is no recording ${name}`)
  return found
})

/** The agents that have a one-shot launch, with nothing else, so that every face takes that one. */
export const oneshotAgents: readonly Agent[] = agents.flatMap((agent) =>
  agent.launches.oneshot ? [{ ...agent, launches: { oneshot: agent.launches.oneshot } }] : [],
)

/** Says what a program said when it was recorded, as soon as it is spoken to, and ends as it did. */
export class RecordedDriver implements Driver {
  #next: Fixture | undefined

  load(fixture: Fixture): void {
    this.#next = fixture
  }

  start(_launch: Launch): Run {
    const fixture = this.#next
    if (!fixture) throw new Error('nothing was loaded')
    return new RecordedRun(fixture)
  }
}

/** Lines that leave together. */
const BATCH = 5

class RecordedRun implements Run {
  readonly pid = undefined
  readonly frames: AsyncIterable<readonly Frame[]>
  readonly exit: Promise<RunExit>
  readonly #asked = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<RunExit>()

  constructor(fixture: Fixture) {
    this.frames = this.#play(fixture)
    this.exit = this.#ended.promise
  }

  async write(): Promise<void> {
    this.#asked.resolve()
  }

  async stop(): Promise<void> {
    this.#asked.resolve()
  }

  async *#play({ lines, stderr, exit }: Fixture): AsyncGenerator<readonly Frame[]> {
    await this.#asked.promise
    const said = lines.filter((line) => line !== '').map((line) => jsonFrame('stdout', line.trimEnd()))
    const complaints = stderr.split('\n').filter((line) => line !== '')
    const frames: Frame[] = [...said, ...complaints.map((text): Frame => ({ stream: 'stderr', text }))]
    for (let at = 0; at < frames.length; at += BATCH) yield frames.slice(at, at + BATCH)
    const { code, signal } = exit
    this.#ended.resolve({
      ...(typeof code === 'number' && { code }),
      ...(typeof signal === 'string' && { signal }),
    })
  }
}

/** What `POST /v1/execute` is asked for with the name of a recording. */
export const taskOf = ({ name, agent }: Fixture) => ({
  idempotency_key: name,
  task: `as in ${name}`,
  driver: agent,
})

/** Puts the log of a live recording into a store, as the run of a task that can be asked for again. */
export async function keep(store: Store, fixture: Fixture): Promise<string> {
  const id = randomUUID()
  const agent = agents.find((one) => one.id === fixture.agent)
  const { launch } = fixture
  const recipe = agent?.launches[launch]
  if (!agent || !recipe) throw new Error(`${fixture.agent} has no ${launch} launch`)
  const entries = decodeFixture(fixture).entries.map((entry) => ({ ...entry, session: id }))
  const record = newRecord(
    {
      id,
      agent,
      recipe,
      launch,
      project: undefined,
      name: undefined,
      cwd: '/',
      policy: DEFAULT_POLICY,
      mode: undefined,
      version: undefined,
      options: {},
      attended: true,
      resume: undefined,
    },
    'owner',
    0,
  )
  for (const { event, at } of entries) recordEvent(record, event, at)
  const { idempotency_key: key, ...asked } = taskOf(fixture)
  const receipt = { scope: 'owner POST /v1/execute', key, fingerprint: fingerprintOf(asked), session: id }
  await store.create(id, { entries, record }, receipt)
  return id
}
