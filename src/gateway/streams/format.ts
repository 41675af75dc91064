/** One message on its way to a reader, and the id to come back with. */
export interface Shown {
  id: string
  message: unknown
}

/** How messages are written on a stream. */
export interface StreamFormat {
  type: string
  /** Shows a silent reader that we are still there. */
  keepalive: string
  /** Sent at every interval, also while there is something else to read. */
  steady?: boolean
  write(shown: Shown): string
  /** The same of what is JSON already. */
  frame(id: string | number, json: string): string
}

/** Some readers split lines at these two, which JSON leaves as they are. */
const LINE_SEPARATORS = /[\u2028\u2029]/g

function json(message: unknown): string {
  return inOneLine(JSON.stringify(message))
}

function inOneLine(text: string): string {
  return text.replace(LINE_SEPARATORS, (char) => (char === '\u2028' ? '\\u2028' : '\\u2029'))
}

/** A message of the transport's own, which nobody can come back to. */
export function sseData(message: unknown): string {
  return `data: ${json(message)}\n\n`
}

export const SSE: StreamFormat = {
  type: 'text/event-stream',
  keepalive: ': keepalive\n\n',
  write: ({ id, message }) => SSE.frame(id, json(message)),
  frame: (id, json) => `id: ${id}\ndata: ${json}\n\n`,
}

/** Readers skip empty lines. */
export const NDJSON: StreamFormat = {
  type: 'application/x-ndjson',
  keepalive: '\n',
  write: ({ message }) => NDJSON.frame('', json(message)),
  frame: (_, json) => `${json}\n`,
}

/** In characters: what is prepared for a reader at a time. */
const CHUNK = 64 * 1024

/** The messages as text, in pieces that are worth a write. */
export function* chunks(format: StreamFormat, messages: Iterable<Shown>): Generator<string> {
  let chunk = ''
  for (const shown of messages) {
    chunk += format.write(shown)
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

interface Written {
  format: StreamFormat
  pieces: Uint8Array[]
  /** How many texts are in them. */
  texts: number
}

const written = new WeakMap<readonly string[], Written>()

/** Entries that are JSON already, from this seq on. What was made for one reader is sent to all who read along. */
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

function nextPiece(shared: Written, first: number, texts: readonly string[]): Uint8Array {
  const { format } = shared
  let chunk = ''
  for (; chunk.length < CHUNK && shared.texts < texts.length; shared.texts++) {
    chunk += format.frame(first + shared.texts, texts[shared.texts] ?? '')
  }
  return Buffer.from(inOneLine(chunk))
}

/** What a reader wants, by the first of its `Accept` that we have; one page of JSON otherwise. */
export function formatOf(accept: string | undefined): StreamFormat | undefined {
  for (const range of accept?.split(',') ?? []) {
    const type = range.split(';')[0]?.trim().toLowerCase()
    if (type === SSE.type) return SSE
    if (type === NDJSON.type) return NDJSON
    if (type === 'application/json') return undefined
  }
  return undefined
}
