import type { Problem } from '../http/problem.ts'
import type { NoticeMessage } from './notices.ts'

/** One message for a client, with the id to resume from. */
export interface StreamMessage {
  id: string
  message: unknown
}

/** A stream format. */
export interface StreamFormat {
  type: string
  /** The text that keeps an idle connection open. */
  keepalive: string
  /** Sends the keepalive at every interval, even on a busy stream. */
  steady?: boolean
  write(shown: StreamMessage): string
  /** Writes a message that is already JSON text. */
  frame(id: string | number, json: string): string
  /** Writes why the stream ends before the log does, without an id to resume from. */
  failure(problem: Problem): string
  /** Writes a message of the server itself, without an id to resume from. */
  notice(message: NoticeMessage): string
  /** Writes a notice so that a client which does not know it ignores it; absent where that is not possible. */
  comment?(text: string): string
}

/** Some clients split lines at these characters, which JSON does not escape. */
const LINE_SEPARATORS = /[\u2028\u2029]/g

/** `JSON.stringify` escapes halves of characters, which many parsers of other languages refuse. */
const LONE_SURROGATES = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** The JSON text of a message, for parsers of every language. */
export function messageJson(message: unknown): string {
  return portable(JSON.stringify(message))
}

/** The bytes of a message that is already JSON text. */
export function messageBytes(json: string): Uint8Array {
  return Buffer.from(portable(json))
}

function portable(json: string): string {
  const whole = json.includes('\\ud') ? json.replace(LONE_SURROGATES, '$1\ufffd') : json
  return whole.replace(LINE_SEPARATORS, (char) => (char === '\u2028' ? '\\u2028' : '\\u2029'))
}

/** A message of the transport itself, without an id to resume from. */
export function sseData(message: unknown): string {
  return `data: ${messageJson(message)}\n\n`
}

export const SSE: StreamFormat = {
  type: 'text/event-stream',
  keepalive: ': keepalive\n\n',
  write: ({ id, message }) => SSE.frame(id, messageJson(message)),
  frame: (id, json) => `id: ${id}\ndata: ${json}\n\n`,
  failure: (problem) => `event: error\n${sseData(problem)}`,
  notice: (message) => `event: ${message.type}\n${sseData(message)}`,
  comment: (text) => `: ${text}\n\n`,
}

/** Clients skip empty lines. */
export const NDJSON: StreamFormat = {
  type: 'application/x-ndjson',
  keepalive: '\n',
  write: ({ message }) => NDJSON.frame('', messageJson(message)),
  frame: (_, json) => `${json}\n`,
  failure: (error) => NDJSON.frame('', messageJson({ error })),
  notice: (message) => NDJSON.frame('', messageJson(message)),
}

/** Maximum number of characters per write. */
const CHUNK = 64 * 1024

/** Formats messages as text, in chunks large enough for a write. */
export function* chunks(format: StreamFormat, messages: Iterable<StreamMessage>): Generator<string> {
  let chunk = ''
  for (const shown of messages) {
    chunk += format.write(shown)
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

interface FormattedPieces {
  format: StreamFormat
  pieces: Uint8Array[]
  /** The number of texts in the segment. */
  texts: number
}

const written = new WeakMap<readonly string[], FormattedPieces>()

/**
 * Formats entries that are already JSON text, starting at this seq. The result is shared by all subscribers of the same
 * format.
 */
export function* verbatim(
  format: StreamFormat,
  first: number,
  texts: readonly string[],
): Generator<Uint8Array> {
  let shared = written.get(texts)
  if (shared?.format !== format) {
    shared = { format, pieces: [], texts: 0 }
    written.set(texts, shared)
  }
  for (let index = 0; index < shared.pieces.length || shared.texts < texts.length; index++) {
    const piece = shared.pieces[index] ?? nextPiece(shared, first, texts)
    shared.pieces[index] = piece
    yield piece
  }
}

function nextPiece(shared: FormattedPieces, first: number, texts: readonly string[]): Uint8Array {
  const { format } = shared
  let chunk = ''
  for (; chunk.length < CHUNK && shared.texts < texts.length; shared.texts++) {
    chunk += format.frame(first + shared.texts, texts[shared.texts] ?? '')
  }
  return Buffer.from(portable(chunk))
}

/** Selects the first supported format of the `Accept` header; undefined selects one page of JSON. */
export function formatOf(accept: string | undefined): StreamFormat | undefined {
  for (const range of accept?.split(',') ?? []) {
    const type = range.split(';')[0]?.trim().toLowerCase()
    if (type === SSE.type) return SSE
    if (type === NDJSON.type) return NDJSON
    if (type === 'application/json') return undefined
  }
  return undefined
}
