import { toJson } from '../model/entry-json.ts'

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
}

/** Some readers split lines at these two, which JSON leaves as they are. */
const LINE_SEPARATORS = /[\u2028\u2029]/g

function json(message: unknown): string {
  return toJson(message).replace(LINE_SEPARATORS, (char) => (char === '\u2028' ? '\\u2028' : '\\u2029'))
}

/** A message of the transport's own, which nobody can come back to. */
export function sseData(message: unknown): string {
  return `data: ${json(message)}\n\n`
}

export const SSE: StreamFormat = {
  type: 'text/event-stream',
  keepalive: ': keepalive\n\n',
  write: ({ id, message }) => `id: ${id}\n${sseData(message)}`,
}

/** Readers skip empty lines. */
export const NDJSON: StreamFormat = {
  type: 'application/x-ndjson',
  keepalive: '\n',
  write: ({ message }) => `${json(message)}\n`,
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
