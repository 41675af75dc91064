import { IN_PROCESS } from '../attend/in-process.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import {
  type Entry,
  type ErrorInfo,
  type Image,
  MainstemError,
  type Outcome,
  type Usage,
} from '../model/index.ts'
import { copyEntry, jsonCopy, tryJson } from '../model/text/json.ts'
import { checkFields, checkSignal } from '../model/text/known-fields.ts'
import type { Handle } from './handle.ts'
import { ItemIterator } from './item-iterator.ts'
import { type OutputSchema, validated } from './output.ts'
import type { ReadPosition } from './unread-retention.ts'

/** How a turn ended. */
export interface TurnResult<T = unknown> {
  /** `completed` if the turn succeeded. A failed turn does not throw. */
  outcome: Outcome
  /** The final answer; empty if there is none. */
  text: string
  /** The error, for outcomes that have one. */
  error?: ErrorInfo
  /** Tokens and cost; absent if the agent reports none. */
  usage?: Usage
  /** The answer parsed by the `output` schema, if the session has one and the turn succeeded. */
  structured?: T
  /** The duration in milliseconds. */
  durationMs: number
}

/** Options of a prompt. */
export interface PromptOptions {
  /** Images, for agents that accept them. */
  images?: readonly Image[] | undefined
  /** Interrupts the turn. */
  signal?: AbortSignal | undefined
}

interface Begun {
  turn: number
  /** The last entry before this turn. */
  after: number
  /** Undefined if the session keeps all entries. */
  position: ReadPosition | undefined
  /** Requested at once, because the entries may be evicted later. */
  settled: Promise<TurnCompleted>
}

/** A turn of a session. Iterate it for its entries, call `result()` for its result, or both. */
export class Turn<T = unknown> implements AsyncIterable<Entry> {
  readonly #handle: Handle
  readonly #output: OutputSchema<T> | undefined
  readonly #begun: Promise<Begun>

  constructor(handle: Handle, text: string, options: PromptOptions, output: OutputSchema<T> | undefined) {
    this.#handle = handle
    this.#output = output
    this.#begun = this.#begin(text, options)
    // Iterating and `result` report the rejection. A caller that does neither must not get an unhandled rejection.
    this.#begun.catch(() => undefined)
  }

  /** Iterates over the entries of the turn, from its start to its `turn.completed` event. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Entry, void> {
    return new ItemIterator(this.#batches(), copyEntry)
  }

  /** Resolves when the turn has ended. Rejects if the prompt was refused, not if the turn failed. */
  async result(): Promise<TurnResult<T>> {
    const { settled, position } = await this.#begun
    // A copy, because the log has the same object.
    const completed = jsonCopy(await settled)
    await position?.closeUnread()
    const { outcome, result: text = '', error, usage, durationMs } = completed
    const base = { outcome, text, ...(error && { error }), ...(usage && { usage }), durationMs }
    if (!this.#output || outcome !== 'completed') return base
    // Some agents send a structured answer as text only.
    return { ...base, structured: await validated(this.#output, completed.structured ?? tryJson(text)) }
  }

  async *#batches(): AsyncGenerator<readonly Entry[], void> {
    const { turn, after, position } = await this.#begun
    position?.start()
    const { sessions, log } = this.#handle
    const leave = new AbortController()
    try {
      for await (const batch of sessions.follow(log.session, after, leave.signal)) {
        const own = ownOf(batch, turn)
        yield own
        // A turn has no entries after its end.
        const end = own.at(-1)?.event.type === 'turn.completed' ? own.at(-1) : undefined
        const last = end ?? batch.at(-1)
        if (last) await position?.advance(last.seq)
        if (end) return
      }
    } catch (thrown) {
      this.#handle.readFailed(thrown)
    } finally {
      leave.abort()
      await position?.close()
    }
  }

  async #begin(text: string, options: PromptOptions): Promise<Begun> {
    checkFields(options, ['images', 'signal'], 'options')
    const { images, signal } = options
    checkSignal(signal)
    if (signal?.aborted) throw new MainstemError('conflict', 'the signal was aborted before the turn started')
    const { sessions, log, retention } = this.#handle
    const session = await this.#handle.session()
    const head = await sessions.head(log.session)
    const position = retention?.subscribe(Math.max(head, retention.evictedTo))
    if (position) retention?.closeWith(this, position)
    try {
      const turn = await session.prompt(text, images, IN_PROCESS)
      const settled = session.settled(turn)
      // `result` reports the rejection. A caller that does not call it must not get an unhandled rejection.
      settled.catch(() => undefined)
      if (signal) this.#interruptOn(signal, turn, settled)
      return { turn, after: position?.after ?? head, position, settled }
    } catch (thrown) {
      await position?.close()
      throw thrown
    }
  }

  #interruptOn(signal: AbortSignal, turn: number, settled: Promise<TurnCompleted>): void {
    const interrupt = () => {
      const interrupted = this.#handle.session().then((session) => session.interrupt(turn, IN_PROCESS))
      interrupted.catch(() => undefined)
    }
    signal.addEventListener('abort', interrupt, { once: true })
    settled.catch(() => undefined).finally(() => signal.removeEventListener('abort', interrupt))
  }
}

/** The entries of one turn. Most batches belong to a single turn and are not copied. */
function ownOf(batch: readonly Entry[], turn: number): readonly Entry[] {
  const isOwn = (entry: Entry) => entry.turn === turn
  return batch.every(isOwn) ? batch : batch.filter(isOwn)
}
