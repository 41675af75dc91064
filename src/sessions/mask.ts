import type { Event } from '../model/index.ts'

/** Shorter values are words that occur anyway. */
const SHORTEST = 8

interface Needle {
  text: string
  mark: string
}

interface Increment {
  /** What it continues. */
  stream: string
  id: string
  text: string
  /** The same increment with another text. */
  with(text: string): Event
}

/** Puts a mark with its length in the place of every secret. */
export class Mask {
  #needles: readonly Needle[] = []
  /** By stream: an end that may be the beginning of a secret. */
  readonly #held = new Map<string, Increment>()

  constructor(secrets: readonly string[]) {
    this.add(secrets)
  }

  get needles(): readonly Needle[] {
    return this.#needles
  }

  /** There is nothing to mask. */
  get isEmpty(): boolean {
    return this.#needles.length === 0
  }

  /** Masks these from now on as well. */
  add(secrets: readonly string[]): void {
    const needles = new Map(this.#needles.map(({ text, mark }) => [text, mark]))
    for (const secret of secrets) {
      if (secret.length < SHORTEST) continue
      // Raw frames and drafts of calls have it as JSON writes it.
      for (const text of [secret, JSON.stringify(secret).slice(1, -1)])
        needles.set(text, `[masked ${secret.length}]`)
    }
    // Longest first: one secret may be part of another.
    const sorted = [...needles].sort(([a], [b]) => b.length - a.length)
    this.#needles = sorted.map(([text, mark]) => ({ text, mark }))
  }

  text(text: string): string {
    let masked = text
    for (const { text: needle, mark } of this.#needles) {
      if (masked.includes(needle)) masked = masked.replaceAll(needle, mark)
    }
    return masked
  }

  /**
   * Hands over what may be logged of an event. The end of an increment that could begin a secret is kept back until
   * the next one of its stream, or the end of the stream, shows what it is.
   */
  pass(event: Event, log: (event: Event) => void): void {
    const increment = incrementOf(event)
    if (increment) {
      this.#increment(increment, log)
      return
    }
    if (this.#held.size > 0) this.#releaseBefore(event, log)
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

  #increment({ stream, id, text, with: make }: Increment, log: (event: Event) => void): void {
    const before = this.#held.get(stream)?.text ?? ''
    const masked = this.text(before + text)
    const end = this.#beginning(masked)
    const shown = masked.slice(0, masked.length - end)
    if (end > 0) this.#held.set(stream, { stream, id, text: masked.slice(-end), with: make })
    else if (before !== '') this.#held.delete(stream)
    if (shown !== '' || text === '') log(make(shown))
  }

  /** What an event ends, or stands behind, has nothing more to come. */
  #releaseBefore(event: Event, log: (event: Event) => void): void {
    const isEnd = event.type === 'turn.completed' || event.type === 'session.ended'
    const messageId = 'messageId' in event ? event.messageId : undefined
    const toolId = 'toolId' in event ? event.toolId : undefined
    for (const { stream, id, text, with: make } of this.#held.values()) {
      if (!isEnd && id !== messageId && id !== toolId) continue
      this.#held.delete(stream)
      log(make(text))
    }
  }

  /** How many characters at the end of a text are the beginning of a secret. */
  #beginning(text: string): number {
    const last = text.at(-1)
    if (last === undefined) return 0
    let longest = 0
    for (const { text: needle } of this.#needles) {
      for (let at = needle.length - 2; at >= longest; at--) {
        at = needle.lastIndexOf(last, at)
        if (at < longest) break
        if (text.endsWith(needle.slice(0, at + 1))) longest = at + 1
      }
    }
    return longest
  }
}

/** A piece of something that comes in pieces; `undefined` when the event is none. */
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
