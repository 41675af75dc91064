/// <reference lib="esnext.disposable" preserve="true" />
import { SseTransport } from '../sse-transport.ts'
import { systemTimers, type Timers } from '../timers.ts'
import { ownCommand } from './own-command.ts'
import { Tunnel } from './tunnel.ts'

/** Options of a `StdioTransport`. */
export interface StdioOptions {
  /** A program that runs `mainstem stdio`, such as `ssh`; the `mainstem` of this package by default. */
  command?: string
  /** The arguments of the program; `stdio` by default. */
  args?: readonly string[]
  /** Environment variables to add to those of this process. */
  env?: Readonly<Record<string, string>>
  /** The dialect of the messages; `unified` by default. */
  dialect?: string
  /** Replaces the timers in tests. */
  timers?: Timers
}

/**
 * Talks to `mainstem stdio` over stdin and stdout of a child process. The first call starts the process, and restarts it
 * after it has exited. Sends nothing to a program that does not greet as `mainstem stdio` does.
 */
export class StdioTransport extends SseTransport implements AsyncDisposable {
  readonly #tunnel: Tunnel

  constructor({
    command,
    args = ['stdio'],
    env,
    dialect = 'unified',
    timers = systemTimers,
  }: StdioOptions = {}) {
    const [program, ...own]: [string, ...string[]] = command === undefined ? ownCommand() : [command]
    const tunnel = new Tunnel({ argv: [program, ...own, ...args], env, timers })
    super({ dialect, fetch: (url, init) => tunnel.fetch(url, init) })
    this.#tunnel = tunnel
  }

  /** A `fetch` for a `MainstemClient` over the same process. */
  get fetch(): (url: string, init: RequestInit) => Promise<Response> {
    return (url, init) => this.#tunnel.fetch(url, init)
  }

  /** Closes stdin, which ends the process, and waits for its exit. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tunnel[Symbol.asyncDispose]()
  }
}
