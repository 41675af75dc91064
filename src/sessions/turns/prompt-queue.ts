import { type Continuation, type Image, MainstemError, type SessionRecord } from '../../model/index.ts'
import type { Author } from '../../model/request/request.ts'
import { isWhole } from '../../model/session/queue-preview.ts'
import type { Store } from '../../stores/store.ts'
import { authorOf } from '../command-context.ts'
import type { QueuedContinuation } from '../continuations/continuations.ts'
import type { Prompt } from '../process/setup.ts'

/** A prompt of the queue. What is undefined is in the store only. */
interface PromptInQueue {
  readonly turn: number
  text: string | undefined
  images: readonly Image[] | undefined
  continuation: Continuation | undefined
  author: Partial<Author>
}

/**
 * The prompts that wait, in order; a continuation is the first. Images stay in the store until their prompt is the next, because those of a whole queue might
 * not fit into memory.
 */
export class PromptQueue {
  readonly #store: Pick<Store, 'queuedPrompt'>
  readonly #session: string
  /** Gives no prompt away, because another server is to run them. */
  isHeld = false
  #waiting: PromptInQueue[] = []
  #loading: Promise<void> | undefined

  constructor(store: Pick<Store, 'queuedPrompt'>, session: string, queue: SessionRecord['queue']) {
    this.#store = store
    this.#session = session
    for (const waiting of queue) {
      const { turn, prompt, continuation } = waiting
      const [text, images] = isWhole(waiting) ? [prompt, []] : []
      this.#add({ turn, text, images, continuation, author: authorOf(waiting) })
    }
  }

  /** The continuation that waits. */
  get continuation(): QueuedContinuation | undefined {
    const [first] = this.#waiting
    return first?.continuation && { turn: first.turn, continuation: first.continuation }
  }

  get length(): number {
    return this.#waiting.length
  }

  push(prompt: Prompt, continuation?: Continuation): void {
    this.#add({ ...prompt, continuation })
  }

  #add(prompt: PromptInQueue): void {
    if (prompt.continuation) this.#waiting.unshift(prompt)
    else this.#waiting.push(prompt)
  }

  /** The prompt of this turn is committed, so its images can be read again. */
  stored(turn: number): void {
    const waiting = this.#waiting.find((one) => one.turn === turn)
    if (waiting?.images && waiting.images.length > 0) waiting.images = undefined
  }

  /** Whether `shift` can be called: the first prompt is in memory, or there is none to give away. */
  get isReady(): boolean {
    const [first] = this.#waiting
    return this.isHeld || !first || (first.text !== undefined && first.images !== undefined)
  }

  shift(): Prompt | undefined {
    const first = this.isHeld ? undefined : this.#waiting.shift()
    if (!first) return undefined
    const { turn, text, images, author } = first
    if (text === undefined || images === undefined) throw new TypeError(`turn ${turn} is not loaded`)
    return { turn, text, images, author }
  }

  /** Loads the first prompt from the store, if it is not in memory. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #load(): Promise<void> {
    const [first] = this.#waiting
    if (!first || this.isReady) return
    const { turn } = first
    const prompt = await this.#store.queuedPrompt(this.#session, turn)
    if (!prompt) throw new MainstemError('storage_failed', `the prompt of turn ${turn} is not in the store`)
    // The text in memory is the one that was accepted; secrets are masked in the stored one.
    first.text ??= prompt.prompt
    first.images = prompt.images ?? []
  }

  /** Returns false if the turn is not queued. */
  remove(turn: number): boolean {
    const place = this.#waiting.findIndex((one) => one.turn === turn)
    if (place >= 0) this.#waiting.splice(place, 1)
    return place >= 0
  }

  /** Removes the prompts up to this turn, all by default. Returns their turns. */
  clear(through = Number.POSITIVE_INFINITY): number[] {
    const dropped = this.#waiting.filter(({ turn }) => turn <= through)
    this.#waiting = this.#waiting.filter(({ turn }) => turn > through)
    return dropped.map(({ turn }) => turn)
  }
}
