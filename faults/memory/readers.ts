import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'

/** A session that is read, and how many entries it has. */
export interface Reading {
  url: string
  id: string
  head: number
}

const BRACE = 125

async function checked(request: Promise<Response>): Promise<Response> {
  const response = await request
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return response
}

/** Repeats a request that is refused because other readers use the memory, as its answer asks for. */
async function admitted(url: string): Promise<Response> {
  for (;;) {
    const response = await fetch(url)
    if (response.status !== 503) return response
    await response.body?.cancel()
    await sleep(Number(response.headers.get('retry-after') ?? 1) * 1000)
  }
}

async function pageAfter(
  { url, id }: Reading,
  after: string,
  query = '',
): Promise<{ count: number; next: string }> {
  const response = await checked(admitted(`${url}/v1/sessions/${id}/events?after=${after}${query}`))
  const body = (await response.json()) as { entries?: unknown[]; messages?: unknown[]; next: string }
  return { count: (body.entries ?? body.messages ?? []).length, next: body.next }
}

/** Reads all pages; returns how many messages they had. */
export async function readPages(reading: Reading, query = ''): Promise<number> {
  let total = 0
  for (let after = '0'; ; ) {
    const { count, next } = await pageAfter(reading, after, query)
    if (count === 0) return total
    total += count
    after = next
  }
}

/** Requests the same page many times at once; returns how many of them were answered. */
export async function readParallelPages(reading: Reading, times: number): Promise<number> {
  const pages = Array.from({ length: times }, () => pageAfter(reading, '0'))
  return (await Promise.all(pages)).filter(({ count }) => count > 0).length
}

/** Downloads the export; returns how many lines it has, and fails without its end line. */
export async function readExport({ url, id }: Reading): Promise<number> {
  const { body } = await checked(fetch(`${url}/v1/sessions/${id}/export`))
  let tail = ''
  let lines = 0
  for await (const chunk of body ?? []) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    lines += countOf(bytes, '\n')
    tail = (tail + bytes.subarray(-200).toString()).slice(-200)
  }
  if (!/\{"end":.*\}\n+$/.test(tail)) throw new Error('the export has no end line')
  return lines
}

/** Replays the log as server-sent events, up to its head; returns how many events came. */
export async function readEvents({ url, id, head }: Reading): Promise<number> {
  const leave = new AbortController()
  const headers = { accept: 'text/event-stream' }
  const { body } = await checked(fetch(`${url}/v1/sessions/${id}/events`, { headers, signal: leave.signal }))
  let events = 0
  let last: Uint8Array = new Uint8Array()
  for await (const chunk of body ?? []) {
    // Each event has one line of data, and no text in it has a line break. A chunk may end between the two bytes.
    events += countOf(Buffer.concat([last, chunk]), '}\n')
    last = chunk.at(-1) === BRACE ? chunk.subarray(-1) : new Uint8Array()
    if (events >= head) break
  }
  leave.abort()
  return events
}

function countOf(bytes: Buffer, text: string): number {
  let count = 0
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) count++
  return count
}

/** Reads the record and a list of records many times at once; returns how many responses came. */
export async function readRecords({ url, id }: Reading): Promise<number> {
  const paths = Array.from({ length: 10 }, () => [`/v1/sessions/${id}`, '/v1/sessions?limit=500']).flat()
  const responses = await Promise.all(paths.map((path) => checked(admitted(url + path))))
  return (await Promise.all(responses.map((response) => response.json()))).length
}

/** Downloads the first blob of a session; returns its size in MB. */
export async function readBlob({ url, id }: Reading): Promise<number> {
  const page = await checked(admitted(`${url}/v1/sessions/${id}/events?limit=1`))
  const { entries } = (await page.json()) as { entries: { event: { blob: { id: string } } }[] }
  const { body } = await checked(fetch(`${url}/v1/blobs/${id}/${entries[0]?.event.blob.id}`))
  let bytes = 0
  for await (const chunk of body ?? []) bytes += chunk.length
  return bytes / 1024 / 1024
}

/** Replays the log on a WebSocket, up to its head; returns how many messages came. */
export function readSocket({ url, id, head }: Reading): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/sessions/${id}/events`, {
    perMessageDeflate: false,
  })
  let messages = 0
  return new Promise((resolve, reject) => {
    socket.on('message', () => {
      if (++messages === head) socket.close()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(messages))
  })
}

/** The last seq, which recovery has moved behind the entries that were written. */
export async function headOf(url: string, id: string): Promise<number> {
  const response = await checked(fetch(`${url}/v1/sessions/${id}`))
  return ((await response.json()) as { head: number }).head
}
