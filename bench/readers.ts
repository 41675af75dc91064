import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

const BYTES = 200 * 1024 * 1024
const DELTA_CHARS = 1_000
const DELTAS = 50
const READERS = 1_000
const SHORT_LINES = 2_000
const POLL_MS = 100

/** Measures a reader that stalls during 200 MB of output, and a thousand readers of one log. Checks that no entry is lost. */
export async function readers(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    await slow(folder, 'nobody reads', false)
    await slow(folder, 'somebody never reads', true)
    await many(folder)
  } finally {
    rmSync(folder, { recursive: true, maxRetries: 3 })
  }
}

class Running {
  readonly #child: ChildProcess
  readonly url: string

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  static async start(folder: string, lines: number, chars: number): Promise<Running> {
    const data = mkdtempSync(join(folder, 'data-'))
    const stream = join(data, 'stream.jsonl')
    writeFileSync(stream, streamOf(lines, chars))
    mkdirSync(join(data, 'log'))
    const args = [join(import.meta.dirname, 'readers-worker.ts'), data, stream]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [url] = await once(createInterface(child.stdout), 'line')
    return new Running(child, String(url))
  }

  get rssBytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024
  }

  async call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const headers = body && { 'content-type': 'application/json' }
    const init = { method, ...(headers && { headers, body: JSON.stringify(body) }) }
    const response = await fetch(this.url + path, init)
    if (!response.ok) throw new Error(await response.text())
    return JSON.parse(await response.text())
  }

  /** Runs the turn to its end; the most memory there was meanwhile. */
  async turn(id: string): Promise<number> {
    await this.call('POST', `/v1/sessions/${id}/turns`, { prompt: 'go' })
    let most = 0
    for (let status: unknown = 'busy'; status === 'busy'; await setTimeout(POLL_MS)) {
      most = Math.max(most, this.rssBytes)
      status = (await this.call('GET', `/v1/sessions/${id}`)).status
    }
    await this.call('POST', `/v1/sessions/${id}/end`)
    return most
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await once(this.#child, 'exit')
  }
}

async function slow(folder: string, name: string, attached: boolean): Promise<void> {
  const server = await Running.start(folder, Math.ceil(BYTES / DELTA_CHARS / 2), DELTA_CHARS)
  const id = String((await server.call('POST', '/v1/sessions', { agent: 'claude' })).id)
  const path = `/v1/sessions/${id}/events`
  const before = server.rssBytes
  const socket = attached ? neverReading(server.url, path) : undefined
  const most = await server.turn(id)
  const { head } = await server.call('GET', `/v1/sessions/${id}`)
  process.stdout.write(
    `${name}: RSS ${mega(before)} before, ${mega(most)} at most, ${mega(most - before)} growth\n`,
  )
  if (socket) await resume(server, path, socket, Number(head))
  await server.stop()
}

function neverReading(url: string, path: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n`)
  return socket
}

/** Reads what arrived before the disconnection, then resumes from its last id. Together they must be the log. */
async function resume(server: Running, path: string, socket: Socket, head: number): Promise<void> {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.resume()
  await once(socket, 'close')
  const first = [...text.matchAll(/id: (\d+)\ndata: [^\n]*\n\n/g)].map(([, id]) => Number(id))
  const headers = { accept: 'text/event-stream', 'last-event-id': String(first.at(-1) ?? 0) }
  const response = await fetch(server.url + path, { headers })
  const rest: number[] = []
  let open = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (open + chunk).split('\n\n')
    open = blocks.pop() ?? ''
    for (const block of blocks) rest.push(Number(/^id: (\d+)/.exec(block)?.[1]))
  }
  const seen = [...first, ...rest]
  const isWhole = seen.length === head && seen.every((seq, index) => seq === index + 1)
  process.stdout.write(`  it had ${first.length} entries, resumed, and got ${rest.length} more of ${head}: `)
  process.stdout.write(isWhole ? 'lost 0\n' : `lost ${head - seen.length}\n`)
  if (!isWhole) process.exitCode = 1
}

async function many(folder: string): Promise<void> {
  const server = await Running.start(folder, SHORT_LINES, 200)
  const id = String((await server.call('POST', '/v1/sessions', { agent: 'claude' })).id)
  const url = `${server.url}/v1/sessions/${id}/events`
  const args = [join(import.meta.dirname, 'gateway-reader-worker.ts'), url, String(READERS)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  const before = server.rssBytes
  const most = await server.turn(id)
  // First they tell of the end of the turn.
  await lines.next()
  const { bytes, digests } = JSON.parse((await lines.next()).value ?? '{}')
  process.stdout.write(
    `${READERS} readers of one session: all came to the end, ${digests} different streams, `,
  )
  process.stdout.write(`${mega(bytes)} in all; RSS ${mega(before)} before, ${mega(most)} at most\n`)
  if (digests !== 1) process.exitCode = 1
  await server.stop()
}

/** Messages as they are streamed: piece by piece, and then whole. */
function streamOf(lines: number, chars: number): string {
  const say = (event: object) => JSON.stringify({ type: 'stream_event', event, parent_tool_use_id: null })
  const text = 'x'.repeat(chars)
  const delta = say({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  const whole = { type: 'text', text: text.repeat(DELTAS) }
  const stream: string[] = []
  for (let said = 0; said < lines; said += DELTAS) {
    const message = { id: `m${said}`, role: 'assistant', model: 'm' }
    stream.push(
      say({ type: 'message_start', message: { ...message, content: [] } }),
      say({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...Array.from({ length: DELTAS }, () => delta),
      JSON.stringify({ type: 'assistant', message: { ...message, content: [whole] } }),
      say({ type: 'content_block_stop', index: 0 }),
      say({ type: 'message_stop' }),
    )
  }
  stream.push(JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: '' }), '')
  return stream.join('\n')
}

function mega(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MB`
}
