import type { Timers } from '../timers.ts'
import { Peer } from './peer.ts'
import { TunnelCall } from './tunnel-call.ts'

export interface TunnelOptions {
  argv: readonly [string, ...string[]]
  env: Readonly<Record<string, string>> | undefined
  timers: Timers
}

/** HTTP calls over stdin and stdout of a process, one JSON object per line. */
export class Tunnel implements AsyncDisposable {
  readonly #options: TunnelOptions
  readonly #calls = new Map<number, TunnelCall>()
  #peer: Peer | undefined
  /** The last process that was rejected; it may not have exited yet. */
  #refused: Peer | undefined
  #last = 0

  constructor(options: TunnelOptions) {
    this.#options = options
  }

  /** Supports only headers and bodies that this client sends: plain values and strings. */
  async fetch(url: string, { method = 'GET', headers, body, signal }: RequestInit): Promise<Response> {
    signal?.throwIfAborted()
    const peer = this.#running()
    peer.keepsRunning = true
    await abortable(peer.greeted, signal)
    const id = ++this.#last
    const { pathname, search } = new URL(url)
    const abort = () => call.abort(signal?.reason)
    const call = new TunnelCall({
      send: (line) => peer.send({ id, ...line }),
      over: () => {
        this.#calls.delete(id)
        // An idle child process must not keep this process running.
        if (this.#calls.size === 0) peer.keepsRunning = false
        signal?.removeEventListener('abort', abort)
      },
    })
    this.#calls.set(id, call)
    signal?.addEventListener('abort', abort)
    peer.send({
      id,
      method,
      path: pathname + search,
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { body }),
    })
    return call.response
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#refused?.end()
    await this.#peer?.end()
  }

  #running(): Peer {
    if (this.#peer) return this.#peer
    const peer: Peer = new Peer({
      ...this.#options,
      line: (line) => this.#receive(line),
      gone: (reason) => {
        if (this.#peer === peer) this.#peer = undefined
        if (!peer.closed) this.#refused = peer
        for (const call of this.#calls.values()) call.fail(reason)
      },
    })
    this.#peer = peer
    return peer
  }

  #receive(line: object): void {
    if ('id' in line) this.#calls.get(Number(line.id))?.receive(line)
  }
}

async function abortable(settled: Promise<void>, signal: AbortSignal | null | undefined): Promise<void> {
  if (!signal) return settled
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    await Promise.race([settled, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
