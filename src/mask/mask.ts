import type { Event } from '../model/index.ts'
import { type MaskedPiece, MaskScanner } from './mask-scanner.ts'
import { Matcher } from './matcher.ts'
import type { Secrets } from './secrets.ts'

/** Shorter values are words that occur anyway. */
const SHORTEST = 8

interface Increment {
  /** The name of the stream that it continues. */
  stream: string
  id: string
  text: string
  /** The same increment with another text. */
  with(text: string): Event
}

/** Text that arrives in pieces. */
interface Stream {
  scanner: MaskScanner
  /** The end of the text so far, held back because it may begin a secret that the principal owns. */
  kept: string
  /** The last piece. */
  last: Increment
}

/**
 * Replaces every secret of a session with a mark that has its length. Overlapping secrets share one mark. Each text
 * is scanned once, in linear time.
 */
export class Mask {
  /** By needle. */
  readonly #secrets = new Map<string, { mark: string; held: boolean }>()
  #matcher: Matcher | undefined
  /** No shorter text contains a secret. */
  #shortest = Number.POSITIVE_INFINITY
  readonly #streams = new Map<string, Stream>()

  readonly #least: number

  /** Masks only values of at least `least` characters. */
  constructor({ own = [], lent = [] }: Secrets, least = SHORTEST) {
    this.#least = least
    this.add({ own, lent })
  }

  get isEmpty(): boolean {
    return this.#secrets.size === 0
  }

  /** Masks these from now on as well. */
  add({ own = [], lent = [] }: Secrets): void {
    for (const secret of lent) this.#add(secret, false)
    for (const secret of own) this.#add(secret, true)
  }

  #add(secret: string, held: boolean): void {
    if (secret.length < this.#least) return
    const mark = `[masked ${secret.length}]`
    // Raw frames and drafts of calls contain the secret in its JSON form.
    for (const needle of [secret, JSON.stringify(secret).slice(1, -1)]) {
      this.#secrets.set(needle, { mark, held: held || (this.#secrets.get(needle)?.held ?? false) })
    }
    this.#matcher = undefined
    this.#shortest = Math.min(this.#shortest, secret.length)
  }

  /** Finds the secrets in bytes. A blob is read only when it is complete, so everything is held back. */
  byteMatcher(): Matcher {
    const encoder = new TextEncoder()
    return new Matcher(
      [...this.#secrets].map(([text, { mark }]) => ({ units: encoder.encode(text), mark, held: true })),
    )
  }

  text(text: string): string {
    if (text.length < this.#shortest || !this.#finds(text)) return text
    return masked(text, new MaskScanner(this.#textMatcher).scan(text, true))
  }

  get #textMatcher(): Matcher {
    this.#matcher ??= new Matcher(
      [...this.#secrets].map(([text, secret]) => ({
        units: Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)),
        ...secret,
      })),
    )
    return this.#matcher
  }

  /** Almost every text is free of secrets, and costs no allocation here. */
  #finds(text: string): boolean {
    let found = false
    this.#textMatcher.scanText(text, 0, 0, () => {
      found = true
      return true
    })
    return found
  }

  /**
   * Passes on the part of an event that may be logged. The end of an increment that may begin an own secret is held
   * back until the next increment, or the end, of its stream.
   */
  pass(event: Event, log: (event: Event) => void): void {
    const increment = incrementOf(event)
    if (increment) {
      this.#increment(increment, log)
      return
    }
    if (this.#streams.size > 0) this.#releaseBefore(event, log)
    log(this.value(event))
  }

  /** A value without secrets in its texts; the same one where there are none. */
  value<T>(value: T): T
  value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const masked = value.map((one) => this.value(one))
      return masked.some((one, index) => one !== value[index]) ? masked : value
    }
    let masked: Record<string, unknown> | undefined
    for (const [name, one] of Object.entries(value)) {
      const safe = this.value(one)
      const safeName = this.text(name)
      if (safe === one && safeName === name) continue
      masked ??= { ...value }
      if (safeName !== name) delete masked[name]
      masked[safeName] = safe
    }
    return masked ?? value
  }

  #increment(increment: Increment, log: (event: Event) => void): void {
    const { stream: name, text, with: make } = increment
    const stream = this.#streams.get(name) ?? {
      scanner: new MaskScanner(this.#textMatcher),
      kept: '',
      last: increment,
    }
    const { scanner } = stream
    const whole = stream.kept + text
    const shown = masked(whole, scanner.scan(whole, false))
    stream.kept = whole.slice(whole.length - scanner.kept)
    stream.last = increment
    if (scanner.isMidway) this.#streams.set(name, stream)
    else this.#streams.delete(name)
    if (shown !== '' || text === '') log(make(shown))
  }

  /** Passes on the held text of the streams that an event ends or follows. */
  #releaseBefore(event: Event, log: (event: Event) => void): void {
    const isEnd = event.type === 'turn.completed' || event.type === 'session.ended'
    const messageId = 'messageId' in event ? event.messageId : undefined
    const toolId = 'toolId' in event ? event.toolId : undefined
    for (const [name, { scanner, kept, last }] of this.#streams) {
      if (!isEnd && last.id !== messageId && last.id !== toolId) continue
      this.#streams.delete(name)
      const shown = masked(kept, scanner.scan(kept, true))
      if (shown !== '') log(last.with(shown))
    }
  }
}

function masked(text: string, pieces: readonly MaskedPiece[]): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : text.slice(piece.from, piece.to)))
    .join('')
}

/** The increment that an event carries, if it is one. */
function incrementOf(event: Event): Increment | undefined {
  switch (event.type) {
    case 'text.delta':
    case 'thinking.delta': {
      const { type, messageId: id, text } = event
      return { stream: `${type} ${id}`, id, text, with: (text) => ({ ...event, text }) }
    }
    case 'tool.input.delta': {
      const { type, toolId: id, delta: text } = event
      return { stream: `${type} ${id}`, id, text, with: (delta) => ({ ...event, delta }) }
    }
    case 'tool.progressed': {
      const { type, toolId: id, output: text } = event
      return text === undefined
        ? undefined
        : { stream: `${type} ${id}`, id, text, with: (output) => ({ ...event, output }) }
    }
    default:
      return undefined
  }
}
