import { MainstemError } from '../model/index.ts'

export interface SseFields {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  /** Milliseconds to wait before the client reconnects. */
  readonly retry?: number
  /** Ignored by clients; keeps the connection alive. */
  readonly comment?: string
}

export interface SseMessage {
  /** The last event id of the stream, set by this message or an earlier one. */
  readonly id?: string
  /** Absent for the default type, `message`. */
  readonly event?: string
  readonly data: string
}

/** Encodes one block of an event stream. Every newline in `data` arrives as LF. */
export function encodeSse(fields: SseFields): string {
  let text = ''
  if (fields.comment !== undefined) text += prefixed(': ', fields.comment)
  if (fields.event !== undefined) text += `event: ${oneLine('event', fields.event)}\n`
  if (fields.id !== undefined) text += `id: ${oneLine('id', fields.id)}\n`
  if (fields.retry !== undefined) text += `retry: ${wholeNumber(fields.retry)}\n`
  if (fields.data !== undefined) text += prefixed('data: ', fields.data)
  return `${text}\n`
}

function prefixed(prefix: string, text: string): string {
  // JSON text has no newlines, so the common case costs two searches and no split.
  if (!text.includes('\n') && !text.includes('\r')) return `${prefix}${text}\n`
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `${prefix}${line}\n`)
    .join('')
}

// Throws instead of stripping: a modified id would resume at a different position.
function oneLine(name: string, value: string): string {
  if (/[\r\n\0]/.test(value)) {
    throw new MainstemError('invalid_request', `The SSE field ${name} must not contain CR, LF or NUL.`)
  }
  return value
}

function wholeNumber(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new MainstemError('invalid_request', 'The SSE field retry must be a whole number of milliseconds.')
}

const DEFAULT_LIMIT = 64 * 1024 * 1024

/**
 * Incremental event-stream parser that follows the WHATWG rules. It outlives a connection: after `end` it accepts the
 * next one and still knows where to resume.
 */
export class SseParser {
  readonly #limit: number
  #lastId = ''
  #retry: number | undefined
  #atStart = true
  #afterCr = false
  #overflowed = false
  /** The unterminated line. */
  #open = ''
  #id = ''
  #event = ''
  #data: string | undefined

  /** `limit` bounds the characters of a line and of a message's data, because a server may never end either. */
  constructor(limit = DEFAULT_LIMIT) {
    this.#limit = limit
  }

  /** The value for `Last-Event-ID`. An incomplete event does not change it. */
  get lastId(): string | undefined {
    return this.#lastId === '' ? undefined : this.#lastId
  }

  /** The reconnection delay that the server requested. */
  get retry(): number | undefined {
    return this.#retry
  }

  /** Returns the messages that this text completes. */
  push(text: string): SseMessage[] {
    this.#assertWithinLimit()
    const messages: SseMessage[] = []
    let from = this.#startOf(text)
    let lf = text.indexOf('\n', from)
    let cr = text.indexOf('\r', from)
    while ((lf >= 0 || cr >= 0) && !this.#overflowed) {
      const end = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr
      this.#line(this.#open + text.slice(from, end), messages)
      this.#open = ''
      from = end + 1
      if (end === cr) {
        // The LF of a CRLF may arrive with the next chunk.
        if (from === text.length) this.#afterCr = true
        else if (lf === from) from++
        cr = text.indexOf('\r', from)
      }
      if (lf >= 0 && lf < from) lf = text.indexOf('\n', from)
    }
    this.#open += text.slice(from)
    if (this.#open.length > this.#limit) this.#overflowed = true
    return messages
  }

  /** Ends the connection. Drops an incomplete event, as the specification requires; a resume delivers it again. */
  end(): void {
    this.#assertWithinLimit()
    this.#atStart = true
    this.#afterCr = false
    this.#open = ''
    this.#id = this.#lastId
    this.#event = ''
    this.#data = undefined
  }

  // Throws one call late, so that the messages before the oversized one are not lost.
  #assertWithinLimit(): void {
    if (this.#overflowed) {
      throw new MainstemError('protocol_error', `An SSE message is longer than ${this.#limit} characters.`)
    }
  }

  /** The offset after a BOM, or after the LF of a CRLF that was split across chunks. */
  #startOf(text: string): number {
    if (text === '') return 0
    const first = text.charCodeAt(0)
    const skip = (this.#atStart && first === 0xfeff) || (this.#afterCr && first === 0x0a)
    this.#atStart = false
    this.#afterCr = false
    return skip ? 1 : 0
  }

  #line(line: string, messages: SseMessage[]): void {
    if (line === '') {
      this.#dispatch(messages)
      return
    }
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1)
    if (name === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    else if (name === 'event') this.#event = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    // A number with more digits exceeds what a timer accepts.
    else if (name === 'retry' && /^[0-9]{1,15}$/.test(value)) this.#retry = Number(value)
    if (line.length > this.#limit || (this.#data?.length ?? 0) > this.#limit) this.#overflowed = true
  }

  #dispatch(messages: SseMessage[]): void {
    this.#lastId = this.#id
    if (this.#data !== undefined) {
      messages.push({
        ...(this.#id !== '' && { id: this.#id }),
        ...(this.#event !== '' && { event: this.#event }),
        data: this.#data,
      })
    }
    this.#event = ''
    this.#data = undefined
  }
}
