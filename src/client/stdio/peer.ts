import { ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { LineSplitter } from '../../framing/lines.ts'
import { isStdioGreeting } from '../../framing/stdio-greeting.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import type { Timers } from '../timers.ts'

/** Shorter than the time limit of a call, so that the caller gets this error and not a timeout of the call. */
const GREETING_MS = 25_000
/** Time before SIGKILL, for a program that ignores SIGTERM. */
const KILL_MS = 5_000
const FIX =
  'Run `mainstem stdio`, which runs every agent, or omit `command`. Nothing was sent to the program.'
/** The most characters of an invalid line that an error shows. */
const SHOWN = 200

export interface PeerOptions {
  argv: readonly [string, ...string[]]
  env: Readonly<Record<string, string>> | undefined
  timers: Timers
  /** Called with each line after the greeting. */
  line(value: object): void
  /** Called once, when nothing more can be sent; the process may still be about to exit. */
  gone(reason: MainstemError): void
}

/** The process behind a tunnel. Sends nothing before the process has sent its greeting. */
export class Peer {
  /** Rejects if the process is not `mainstem stdio`. */
  readonly greeted: Promise<void>
  readonly #options: PeerOptions
  /** Inherits stderr. */
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #greeting = Promise.withResolvers<void>()
  readonly #closed = new AbortController()
  #isGreeted = false
  #firstText: string | undefined
  #failure: MainstemError | undefined

  constructor(options: PeerOptions) {
    const [command, ...args] = options.argv
    this.#options = options
    this.greeted = this.#greeting.promise
    // Each call awaits it. A process that exits between two calls must not cause an unhandled rejection.
    this.greeted.catch(() => undefined)
    this.#child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      ...(options.env && { env: { ...process.env, ...options.env } }),
    })
    const lines = new LineSplitter()
    this.#child.stdout.on('data', (chunk: Buffer) => {
      for (const piece of lines.push(chunk)) if (typeof piece === 'string') this.#read(piece)
    })
    let why: string | undefined
    const explain = ({ message }: Error) => {
      why = message
    }
    this.#child.on('error', explain)
    // A write to a process that has exited fails here; `close` reports the exit.
    this.#child.stdin.on('error', explain)
    this.#child.on('close', (code) => this.#close(why ?? this.#endOf(code)))
    void this.#awaitGreeting()
  }

  send(line: object): void {
    if (this.#isGreeted && this.#child.stdin.writable) this.#child.stdin.write(`${JSON.stringify(line)}\n`)
  }

  /** Whether the child process keeps this process running. */
  set keepsRunning(keeps: boolean) {
    const { stdin, stdout } = this.#child
    for (const handle of [this.#child, stdin, stdout])
      if (handle instanceof ChildProcess || handle instanceof Socket) handle[keeps ? 'ref' : 'unref']()
  }

  /** Whether the process has exited. */
  get closed(): boolean {
    return this.#closed.signal.aborted
  }

  /** Closes stdin, which ends the process, and waits for its exit. */
  async end(): Promise<void> {
    if (this.closed) return
    const closed = once(this.#child, 'close')
    this.keepsRunning = true
    this.#child.stdin.end()
    await closed
  }

  #read(text: string): void {
    const value = jsonIn(text)
    if (this.#isGreeted) {
      if (typeof value === 'object' && value !== null) this.#options.line(value)
      else this.#refuse(this.#error('protocol_error', `wrote an invalid message: ${shown(text)}`))
    } else if (isStdioGreeting(value)) {
      this.#isGreeted = true
      this.#greeting.resolve()
    } else if (typeof value === 'object' && value !== null) {
      this.#refuse(this.#foreign('protocol_error', text))
    } else {
      // A login shell may print a banner before the command starts.
      this.#firstText ??= text
    }
  }

  async #awaitGreeting(): Promise<void> {
    const answered = new AbortController()
    const settle = () => answered.abort()
    this.greeted.then(settle, settle)
    await this.#options.timers.sleep(GREETING_MS, AbortSignal.any([answered.signal, this.#closed.signal]))
    if (!this.#isGreeted) this.#refuse(this.#foreign('timeout', this.#firstText))
  }

  #foreign(code: 'protocol_error' | 'timeout', wrote: string | undefined): MainstemError {
    const what = wrote === undefined ? 'wrote no greeting' : `wrote ${shown(wrote)} instead of a greeting`
    return this.#error(code, `${what}, so it is not \`mainstem stdio\`. ${FIX}`)
  }

  #endOf(code: number | null): string {
    const how = code === null ? '' : ` with exit code ${code}`
    return this.#isGreeted ? `the process ended${how}` : `the process ended${how} before its greeting. ${FIX}`
  }

  #error(code: 'protocol_error' | 'timeout' | 'connection_failed', what: string): MainstemError {
    return new MainstemError(code, `${this.#options.argv.join(' ')}: ${what}`)
  }

  #refuse(failure: MainstemError): void {
    if (this.closed || this.#failure) return
    this.#failure = failure
    this.#greeting.reject(failure)
    this.#options.gone(failure)
    this.#child.stdin.destroy()
    this.#child.kill()
    setTimeout(() => this.#child.kill('SIGKILL'), KILL_MS).unref()
  }

  #close(why: string): void {
    this.#closed.abort()
    const failure = this.#failure ?? this.#error('connection_failed', why)
    this.#greeting.reject(failure)
    if (!this.#failure) this.#options.gone(failure)
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function shown(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
