import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { LineSplitter } from '../../framing/lines.ts'
import { MainstemError } from '../../model/mainstem-error.ts'
import { TunnelCall } from './tunnel-call.ts'

/** Its errors go where ours go. */
type Child = ChildProcessByStdio<Writable, Readable, null>

/** Calls of HTTP, one JSON object a line, through the input and output of a process. */
export class Tunnel implements AsyncDisposable {
  readonly #command: string
  readonly #args: readonly string[]
  readonly #env: Readonly<Record<string, string>> | undefined
  readonly #calls = new Map<number, TunnelCall>()
  #child: Child | undefined
  #last = 0

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>> | undefined) {
    this.#command = command
    this.#args = args
    this.#env = env
  }

  /** Headers and body must be plain, as this client sends them. */
  async fetch(url: string, { method = 'GET', headers, body, signal }: RequestInit): Promise<Response> {
    signal?.throwIfAborted()
    const id = ++this.#last
    const { pathname, search } = new URL(url)
    const child = this.#running()
    const abort = () => call.abort(signal?.reason)
    const call = new TunnelCall({
      send: (line) => this.#send(child, { id, ...line }),
      over: () => {
        this.#calls.delete(id)
        signal?.removeEventListener('abort', abort)
      },
    })
    this.#calls.set(id, call)
    signal?.addEventListener('abort', abort)
    this.#send(child, {
      id,
      method,
      path: pathname + search,
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { body }),
    })
    return call.response
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child
    if (!child) return
    const gone = once(child, 'close')
    child.stdin.end()
    await gone
  }

  #running(): Child {
    if (this.#child) return this.#child
    const child = spawn(this.#command, this.#args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      ...(this.#env && { env: { ...process.env, ...this.#env } }),
    })
    const lines = new LineSplitter()
    child.stdout.on('data', (chunk: Buffer) => {
      for (const piece of lines.push(chunk)) if (typeof piece === 'string') this.#hear(piece)
    })
    let why = 'the process ended'
    child.on('error', ({ message }) => {
      why = message
    })
    // What was written to a process that is gone is told by its end.
    child.stdin.on('error', ({ message }) => {
      why = message
    })
    child.on('close', () => this.#gone(child, why))
    this.#child = child
    return child
  }

  #send(child: Child, line: object): void {
    if (child === this.#child && child.stdin.writable) child.stdin.write(`${JSON.stringify(line)}\n`)
  }

  #hear(text: string): void {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('id' in value)) return
    this.#calls.get(Number(value.id))?.hear(value)
  }

  #gone(child: Child, why: string): void {
    if (this.#child === child) this.#child = undefined
    const failure = new MainstemError('connection_failed', `${this.#command}: ${why}`)
    for (const call of this.#calls.values()) call.fail(failure)
  }
}
