import type { TurnCompleted } from '../model/events/turn.ts'
import {
  type Entry,
  type ErrorInfo,
  type Image,
  MainstemError,
  type Outcome,
  type Usage,
} from '../model/index.ts'
import { jsonCopy } from '../model/json-copy.ts'
import { copyEntry } from './copy-entry.ts'
import type { Handle } from './handle.ts'
import { OneByOne } from './one-by-one.ts'
import { type OutputSchema, validated } from './output.ts'
import type { Place } from './readers.ts'

/** How a turn ended. */
export interface TurnResult<T = unknown> {
  outcome: Outcome
  /** The final answer; empty when there was none. */
  text: string
  error?: ErrorInfo
  usage?: Usage
  /** The answer as the schema sees it, where one was given and the turn went well. */
  structured?: T
  durationMs: number
}

/** What a turn begins with. */
export interface TurnPrompt {
  text: string
  images?: readonly Image[] | undefined
  /** Interrupts the turn. */
  signal?: AbortSignal | undefined
}

interface Begun {
  turn: number
  /** The last entry before this turn. */
  after: number
  /** Absent where everything is kept. */
  place: Place | undefined
  /** Requested at once: later its entries may be gone from the log. */
  settled: Promise<TurnCompleted>
}

/** One prompt on its way to its outcome: iterate it for its entries, ask it for its result, or both. */
export class Turn<T = unknown> implements AsyncIterable<Entry> {
  readonly #handle: Handle
  readonly #output: OutputSchema<T> | undefined
  readonly #begun: Promise<Begun>

  constructor(handle: Handle, prompt: TurnPrompt, output: OutputSchema<T> | undefined) {
    this.#handle = handle
    this.#output = output
    this.#begun = this.#begin(prompt)
    // Whoever iterates or asks for the result is told; nobody else needs to handle it.
    this.#begun.catch(() => undefined)
  }

  /** Every entry of the turn, once and in order, from its start to its one terminal event. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Entry, void> {
    return new OneByOne(this.#batches(), copyEntry)
  }

  async result(): Promise<TurnResult<T>> {
    const { settled, place } = await this.#begun
    // A copy, because the log has the same object.
    const completed = jsonCopy(await settled)
    await place?.leaveUnread()
    const { outcome, result: text = '', error, usage, durationMs } = completed
    const base = { outcome, text, ...(error && { error }), ...(usage && { usage }), durationMs }
    if (!this.#output || outcome !== 'completed') return base
    return { ...base, structured: await validated(this.#output, completed.structured ?? parsed(text)) }
  }

  async *#batches(): AsyncGenerator<readonly Entry[], void> {
    const { turn, after, place } = await this.#begun
    place?.take()
    const { sessions, hold } = this.#handle
    const leave = new AbortController()
    try {
      for await (const batch of sessions.follow(hold.session, after, leave.signal)) {
        const own = ownOf(batch, turn)
        yield own
        // Nothing of a turn comes after its end.
        const end = own.at(-1)?.event.type === 'turn.completed' ? own.at(-1) : undefined
        const last = end ?? batch.at(-1)
        if (last) await place?.pass(last.seq)
        if (end) return
      }
    } finally {
      leave.abort()
      await place?.leave()
    }
  }

  async #begin({ text, images, signal }: TurnPrompt): Promise<Begun> {
    if (signal?.aborted) throw new MainstemError('conflict', 'the signal had fired before the turn began')
    const { sessions, session, hold, readers } = this.#handle
    const head = await sessions.head(hold.session)
    const place = readers?.enter(Math.max(head, readers.edge))
    if (place) readers?.leaveWith(this, place)
    try {
      const turn = await session.prompt(text, images)
      const settled = session.settled(turn)
      // Reported by `result`; a caller that does not ask for it does not handle it either.
      settled.catch(() => undefined)
      if (signal) this.#interruptOn(signal, turn, settled)
      return { turn, after: place?.after ?? head, place, settled }
    } catch (thrown) {
      await place?.leave()
      throw thrown
    }
  }

  #interruptOn(signal: AbortSignal, turn: number, settled: Promise<TurnCompleted>): void {
    const interrupt = () => void this.#handle.session.interrupt(turn).catch(() => undefined)
    signal.addEventListener('abort', interrupt, { once: true })
    settled.catch(() => undefined).finally(() => signal.removeEventListener('abort', interrupt))
  }
}

/** Most batches are of one turn alone, and are handed on as they are. */
function ownOf(batch: readonly Entry[], turn: number): readonly Entry[] {
  const isOwn = (entry: Entry) => entry.turn === turn
  return batch.every(isOwn) ? batch : batch.filter(isOwn)
}

/** Some agents give a structured answer as its text only. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
