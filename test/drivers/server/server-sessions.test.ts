import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Wired, wire } from '../../../src/compose/wire.ts'
import type { AnswerCommand, Event, EventType } from '../../../src/model/index.ts'
import type { Session } from '../../../src/sessions/session.ts'
import { decodeFixture, type Fixture, fixtures } from '../../agents/fixtures.ts'
import { isAlive } from '../fake-run.ts'
import { SERVER } from './server-runs.ts'

interface Ended {
  events: Event[]
  pids: number[]
}

/** One session of opencode, whose server is another program that plays what the real one said. */
class Play {
  readonly #wired: Wired
  readonly #session: Promise<Session>
  #cursor = 0
  #ended: Promise<Ended> | undefined

  constructor({ folder }: Fixture) {
    const command = [process.execPath, SERVER, 'recorded', folder]
    this.#wired = wire({ settings: { opencode: { command } } })
    this.#session = this.#wired.sessions.create({ agent: 'opencode', launch: 'live', cwd: tmpdir() })
  }

  async begin(): Promise<{ session: Session; turn: number }> {
    const session = await this.#session
    return { session, turn: await session.prompt('Go') }
  }

  /** The next event of a type, once it is there. */
  async next<Type extends EventType>(type: Type): Promise<Extract<Event, { type: Type }>> {
    const { id } = await this.#session
    for await (const batch of this.#wired.sessions.follow(id, this.#cursor, new AbortController().signal)) {
      for (const { seq, event } of batch) {
        this.#cursor = seq
        if (isOf(event, type)) return event
      }
    }
    throw new Error(`the session ended without ${type}`)
  }

  /** Ends the session: everything it has said, and the processes that said it. */
  end(): Promise<Ended> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<Ended> {
    const { id } = await this.#session
    await this.#wired.sessions.end(id)
    const batches = await Array.fromAsync(this.#wired.sessions.follow(id, 0, new AbortController().signal))
    const events = batches.flat().map(({ event }) => event)
    await this.#wired[Symbol.asyncDispose]()
    return { events, pids: events.flatMap((event) => pidOf(event) ?? []) }
  }
}

function isOf<Type extends EventType>(event: Event, type: Type): event is Extract<Event, { type: Type }> {
  return event.type === type
}

/** The fake server says who it is. */
function pidOf(event: Event): number | undefined {
  const pid = isOf(event, 'output.written') ? /^fake server (\d+)$/.exec(event.line)?.[1] : undefined
  return pid === undefined ? undefined : Number(pid)
}

let play: Play
afterEach(async () => {
  const { pids } = await play.end()
  expect(pids.length).toBeGreaterThan(0)
  expect(pids.filter(isAlive)).toEqual([])
})

const ABORTED: Readonly<Record<string, EventType>> = {
  abort_stream: 'text.delta',
  abort_tool: 'tool.progressed',
}
/** Left out: what never came to an end, had no turn, more than one, or was asked for in another way. */
const OTHERS = ['boot', 'shutdown_sigterm', 'concurrent_and_errors', 'drop', 'text_sync']
const recordings = fixtures.filter(
  ({ program, scenario }) => program === 'opencode-serve' && !OTHERS.includes(scenario),
)

interface Exchange {
  req: { method: string; path: string; body?: { reply?: string; message?: string; answers?: string[][] } }
}

/** What the recorded client asked for after its prompt. */
function callsOf({ folder }: Fixture): Exchange['req'][] {
  const lines = readFileSync(join(folder, 'in.jsonl'), 'utf8').split('\n').filter(Boolean)
  const calls = lines.map((line): Exchange => JSON.parse(line)).map(({ req }) => req)
  return calls.filter(({ method }) => method === 'POST').slice(2)
}

function given({
  answers,
  reply,
  message,
}: NonNullable<Exchange['req']['body']>): Omit<AnswerCommand, 'type' | 'requestId'> {
  if (answers) return { decision: 'answered', answers: Object.fromEntries(Object.entries(answers)) }
  if (reply === 'reject') return { decision: 'deny', ...(message !== undefined && { message }) }
  return { decision: 'allow', scope: reply === 'always' ? 'session' : 'once' }
}

/** What the events alone tell as well; who began a turn, who answered and what was printed they do not. */
const essence = (events: readonly Event[]) =>
  events
    .filter(
      ({ type }) => !/^(session|turn\.(started|completed)|request\.(resolved|withdrawn)|output)/.test(type),
    )
    .map((event) => {
      if (event.type !== 'request.opened') return event
      // The session adds it, from the agent's table of tools.
      const { canonicalName: _, ...rest } = event
      return rest
    })

const recording = (scenario: string): Fixture => {
  const found = recordings.find((fixture) => fixture.scenario === scenario)
  if (!found) throw new Error(`there is no recording ${scenario}`)
  return found
}

test.each(recordings)('$scenario over a server gives the same as its events alone', async (fixture) => {
  play = new Play(fixture)
  const { session, turn } = await play.begin()
  for (const { path, body = {} } of callsOf(fixture)) {
    if (path.endsWith('/abort')) {
      await play.next(ABORTED[fixture.scenario] ?? 'turn.started')
      await session.interrupt()
    } else {
      const { requestId, inputDigest } = await play.next('request.opened')
      await session.answer({ type: 'answer', requestId, inputDigest, ...given(body) })
    }
  }
  const { outcome } = await session.settled(turn)
  expect(session.coverage).toMatchObject({ unmapped: 0, malformed: 0, oversized: 0 })
  const { events } = await play.end()
  const alone = decodeFixture(fixture).entries.map(({ event }) => event)
  expect(essence(events)).toEqual(essence(alone))
  expect(outcome).toBe(alone.findLast((event) => isOf(event, 'turn.completed'))?.outcome)
})

test('a server that dies during a turn is replaced, and the session continues', async () => {
  play = new Play(recording('tool_bash_perm_once'))
  const { session, turn } = await play.begin()
  const { line } = await play.next('output.written')
  await play.next('request.opened')
  process.kill(Number(/\d+$/.exec(line)?.[0]), 'SIGKILL')
  expect(await session.settled(turn)).toMatchObject({ outcome: 'crashed', exit: { signal: 'SIGKILL' } })

  const again = await session.prompt('Again')
  const { requestId, inputDigest } = await play.next('request.opened')
  await session.answer({ type: 'answer', requestId, inputDigest, decision: 'allow', scope: 'once' })
  expect(await session.settled(again)).toMatchObject({ outcome: 'completed' })
  const { events, pids } = await play.end()
  expect(new Set(pids).size).toBe(2)
  const ids = events.flatMap((event) => (isOf(event, 'session.updated') ? (event.nativeSessionId ?? []) : []))
  expect(new Set(ids).size).toBe(1)
})

test('a turn whose events break off has failed', async () => {
  play = new Play(recording('tool_bash_perm_once'))
  const { session, turn } = await play.begin()
  const { line } = await play.next('output.written')
  await play.next('request.opened')
  process.kill(Number(/\d+$/.exec(line)?.[0]), 'SIGUSR2')
  expect(await session.settled(turn)).toMatchObject({
    outcome: 'failed',
    error: { code: 'connection_failed', message: 'the server closed its event stream' },
  })
  await play.next('request.withdrawn')
})
