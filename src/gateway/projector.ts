import type { Dialect, DialectOptions } from '../dialects/dialect.ts'
import type { Entry } from '../model/index.ts'
import { type Cursor, isAfter, messageId } from './cursor.ts'

/** In characters: what is prepared for a reader at a time. */
const CHUNK = 64 * 1024

/** Some readers split lines at these two, which JSON leaves as they are. */
const LINE_SEPARATORS = /[\u2028\u2029]/g

/**
 * One reader's projection, written as server-sent events. It always starts at the first entry, because what a
 * dialect says depends on what it has said; the messages up to the cursor are left out.
 */
export class Projector {
  readonly #dialect: Dialect
  readonly #state: unknown
  readonly #after: Cursor

  constructor(dialect: Dialect, options: DialectOptions, after: Cursor) {
    this.#dialect = dialect
    this.#state = dialect.initial(options)
    this.#after = after
  }

  get finished(): boolean {
    return this.#dialect.finished(this.#state)
  }

  *write(entries: readonly Entry[]): Generator<string> {
    let chunk = ''
    for (const entry of entries) {
      const messages = this.#dialect.project(this.#state, entry)
      for (const [index, message] of messages.entries()) {
        if (!isAfter(this.#after, entry.seq, index + 1)) continue
        const id = messageId(entry.seq, index + 1, messages.length)
        chunk += `id: ${id}\ndata: ${json(message)}\n\n`
        if (chunk.length < CHUNK) continue
        yield chunk
        chunk = ''
      }
    }
    if (chunk !== '') yield chunk
  }
}

function json(message: unknown): string {
  return JSON.stringify(message).replace(LINE_SEPARATORS, (char) =>
    char === '\u2028' ? '\\u2028' : '\\u2029',
  )
}
