import { pick, randomFrom } from '../faults/random.ts'
import type { Entry, Event } from '../src/model/index.ts'
import type { JournalFrame } from '../src/stores/store.ts'

/** Words in random order, because databases compress what repeats. */
const WORDS =
  'the file test server returns an error when its lock is held by another process and reads config'.split(' ')
const random = randomFrom(7)
/** Some words, each time others. */
export const words = (count: number) => Array.from({ length: count }, () => pick(random, WORDS)).join(' ')

const DELTAS = 50
const MESSAGES = 4
const WORDS_PER_DELTA = 4

/** One step of a session: an entry, and the raw frame that it came from. */
export interface Step {
  entry: Entry
  frame: JournalFrame
}

/**
 * A session as coding agents have them: turns of four messages, each of 50 deltas, a tool call with its result, and the
 * usage. Every entry has its raw frame.
 */
export class SessionStream {
  readonly #session: string
  readonly #events: Iterator<Event, never>
  #seq: number

  constructor(session: string, after = 0) {
    this.#session = session
    this.#seq = after
    this.#events = events()
  }

  next(count: number): { entries: Entry[]; journal: JournalFrame[] } {
    const steps = Array.from({ length: count }, () => this.#next())
    return { entries: steps.map(({ entry }) => entry), journal: steps.map(({ frame }) => frame) }
  }

  #next(): Step {
    const { value: event } = this.#events.next()
    const [seq, session] = [++this.#seq, this.#session]
    const native = { type: 'stream_event', session_id: session, uuid: `frame-${seq}`, event }
    return {
      entry: { seq, session, turn: 1, at: Date.now(), event, native: seq },
      frame: { frame: seq, stream: 'stdout', text: JSON.stringify(native) },
    }
  }
}

function* events(): Generator<Event, never> {
  for (let turn = 1; ; turn++) {
    yield { type: 'turn.started', turn, origin: 'prompt', prompt: words(30) }
    for (let message = 1; message <= MESSAGES; message++) yield* messageOf(`msg_${turn}_${message}`)
    const usage = { input: 1_200, output: 800 }
    yield { type: 'turn.completed', turn, outcome: 'completed', usage, durationMs: 9_000, denials: 0 }
  }
}

function* messageOf(messageId: string): Generator<Event, void> {
  for (let delta = 0; delta < DELTAS; delta++)
    yield { type: 'text.delta', messageId, text: words(WORDS_PER_DELTA) }
  yield { type: 'text.completed', messageId, text: words(DELTAS * WORDS_PER_DELTA) }
  const tool = { toolId: `tool_${messageId}`, name: 'Bash', kind: 'execute' } as const
  yield { type: 'tool.started', ...tool, input: { command: words(8) }, messageId }
  yield { type: 'tool.completed', ...tool, status: 'success', output: words(60) }
  yield { type: 'usage.reported', scope: 'step', input: 1_200, output: 200, source: 'agent' }
}
