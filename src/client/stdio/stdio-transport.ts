/// <reference lib="esnext.disposable" preserve="true" />

import { systemTimers, type Timers } from '../timers.ts'
import { SseTransport } from '../transports/sse-transport.ts'
import { commandLine } from './own-command.ts'
import { Tunnel } from './tunnel.ts'

/** Options of a `StdioTransport`. */
export interface StdioOptions {
  /**
   * A program that runs `mainstem stdio`, such as `ssh`; the `mainstem` of this package by default, and for the command
   * lines that the protocol document prints for Codex and Gemini CLI.
   */
  command?: string
  /** The arguments of the program; `stdio` by default. */
  args?: readonly string[]
  /** Environment variables to add to those of this process. */
  env?: Readonly<Record<string, string>>
  /** The dialect of the messages; `unified` by default. */
  dialect?: string
  /** Set to false to receive only the event types of the protocol's document; requests for approval are not among them. */
  extensions?: boolean
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
    extensions = true,
    timers = systemTimers,
  }: StdioOptions = {}) {
    const tunnel = new Tunnel({ argv: commandLine(command, args), env, timers })
    super({ dialect, extensions, fetch: (url, init) => tunnel.fetch(url, init) })
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
