/// <reference lib="esnext.disposable" preserve="true" />
import { SseTransport } from '../sse-transport.ts'
import { systemTimers, type Timers } from '../timers.ts'
import { ownCommand } from './own-command.ts'
import { Tunnel } from './tunnel.ts'

export interface StdioOptions {
  /** A program that runs `mainstem stdio`, such as `ssh`. Left out, it is the `mainstem` of this package. */
  command?: string
  /** The arguments of the program; `stdio` by default. */
  args?: readonly string[]
  /** Variables for the process, besides those of this one. */
  env?: Readonly<Record<string, string>>
  /** The vocabulary of the messages; `unified` by default. */
  dialect?: string
  /** Time, where a test must not wait for it. */
  timers?: Timers
}

/**
 * A server behind the input and output of a process. The process is started with the first call, and again with the
 * first call after it ended. It has to greet as `mainstem stdio` does: nothing is sent to any other program.
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

  /** The same way for a `MainstemClient`. */
  get fetch(): (url: string, init: RequestInit) => Promise<Response> {
    return (url, init) => this.#tunnel.fetch(url, init)
  }

  /** Ends the input of the process, which ends the process, and waits for that. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tunnel[Symbol.asyncDispose]()
  }
}
