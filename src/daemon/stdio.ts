import type { Readable, Writable } from 'node:stream'
import * as z from 'zod'
import { LineSplitter } from '../framing/lines.ts'
import { STDIO_GREETING } from '../framing/stdio-greeting.ts'
import { toMainstemError } from '../model/index.ts'
import type { NodeFetch, SocketResponse } from './node-fetch.ts'

/** A line of the client: a call, a request for more of a response, or a cancellation. */
const Line = z.union([
  z.strictObject({ id: z.int(), more: z.literal(true) }),
  z.strictObject({ id: z.int(), abort: z.literal(true) }),
  z.strictObject({
    id: z.int(),
    method: z.enum(['GET', 'POST', 'DELETE']),
    path: z.string().startsWith('/'),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.string().optional(),
  }),
])
type StdioCall = Extract<z.infer<typeof Line>, { path: string }>

/** The headers that a client may set. */
const HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'idempotency-key', 'last-event-id'])

export interface StdioDeps {
  input: Readable
  output: Writable
  /** The server, its token, and how to reach it. */
  url: string
  token: string | undefined
  fetch?: NodeFetch
  /** Called when a call fails because the server is unreachable. */
  unreachable?(): void
}

type ServerPlace = Pick<StdioDeps, 'url' | 'token' | 'fetch'>

/** Forwards the calls of one client to a server, until the client closes its input. */
export async function passCalls({ input, output, unreachable, ...server }: StdioDeps): Promise<void> {
  const open = new Map<number, OpenCall>()
  const write = (line: object) => void output.write(`${JSON.stringify(line)}\n`)
  write(STDIO_GREETING)
  const handleLine = (text: string) => {
    const line = Line.safeParse(jsonIn(text))
    if (!line.success) return write({ error: 'not a valid call' })
    const { id } = line.data
    if ('more' in line.data) return open.get(id)?.more()
    if ('abort' in line.data) return open.get(id)?.abort()
    if (open.has(id)) return write({ id, error: 'a call with this id is already open' })
    const call = new OpenCall(line.data, write)
    open.set(id, call)
    void call.run(server).then((isReached) => {
      open.delete(id)
      if (!isReached) unreachable?.()
    })
  }
  const lines = new LineSplitter()
  for await (const chunk of untilDestroyed(input)) {
    for (const piece of lines.push(chunk)) {
      if (typeof piece === 'string') handleLine(piece)
      else if (piece.last) write({ error: 'this line is too long' })
    }
  }
  for (const call of open.values()) call.abort()
}

/** The chunks of a stream. Destroying the stream ends them without an error. */
async function* untilDestroyed(input: Readable): AsyncGenerator<Buffer, void, void> {
  try {
    yield* input
  } catch (thrown) {
    if (!input.destroyed || input.errored) throw thrown
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function* textOf(body: SocketResponse['body']): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) {
    const text = decoder.decode(chunk, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** One call, whose response is sent with backpressure. */
class OpenCall {
  readonly #call: StdioCall
  readonly #write: (line: object) => void
  readonly #left = new AbortController()
  #wanted = Promise.withResolvers<void>()

  constructor(call: StdioCall, write: (line: object) => void) {
    this.#call = call
    this.#write = write
  }

  more(): void {
    this.#wanted.resolve()
  }

  abort(): void {
    this.#left.abort()
    this.#wanted.resolve()
  }

  /** Resolves to false when the server is unreachable. */
  async run(server: ServerPlace): Promise<boolean> {
    const { id } = this.#call
    let isReached = false
    try {
      const response = await this.#fetch(server)
      isReached = true
      this.#write({ id, status: response.status, headers: Object.fromEntries(response.headers.entries()) })
      for await (const data of textOf(response.body)) {
        await this.#wanted.promise
        this.#wanted = Promise.withResolvers()
        if (this.#left.signal.aborted) return true
        this.#write({ id, data })
      }
      this.#write({ id, end: true })
    } catch (thrown) {
      // A client that cancelled does not need the error.
      if (!this.#left.signal.aborted) this.#write({ id, error: toMainstemError(thrown).message })
    }
    return isReached || this.#left.signal.aborted
  }

  #fetch({ url, token, fetch = globalThis.fetch }: ServerPlace): Promise<SocketResponse> {
    const { method, path, headers, body } = this.#call
    const allowed = Object.entries(headers).filter(([name]) => HEADERS.has(name.toLowerCase()))
    return fetch(url + path, {
      method,
      headers: {
        ...Object.fromEntries(allowed),
        'x-mainstem-client': 'stdio',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body }),
      signal: this.#left.signal,
    })
  }
}
