import { SseTransport } from '../sse-transport.ts'
import { Tunnel } from './tunnel.ts'

export interface StdioOptions {
  /** What to start; `mainstem` unless it is said. `ssh` reaches another machine. */
  command?: string
  /** `stdio` unless it is said. */
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  dialect?: string
}

/**
 * A server behind the input and output of a process. The process is started with the first call, and again when it
 * is gone and somebody calls.
 */
export class StdioTransport extends SseTransport implements AsyncDisposable {
  readonly #tunnel: Tunnel

  constructor({ command = 'mainstem', args = ['stdio'], env, dialect = 'unified' }: StdioOptions = {}) {
    const tunnel = new Tunnel(command, args, env)
    super({ dialect, fetch: (url, init) => tunnel.fetch(url, init) })
    this.#tunnel = tunnel
  }

  /** The same way for a `MainstemClient`. */
  get fetch(): (url: string, init: RequestInit) => Promise<Response> {
    return (url, init) => this.#tunnel.fetch(url, init)
  }

  /** Ends the input of the process, which ends the process, and waits for that. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tunnel[Symbol.asyncDispose]()
  }
}
