import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { systemTimers, type Timers } from '../../client/timers.ts'
import { CTRL_C, type Key, KeyReader } from './key-reader.ts'

/** Whether this process may use its terminal. The system stops a job in the background that reads or configures it. */
function isForeground(): boolean {
  if (process.platform === 'win32') return true
  if (process.platform !== 'linux') {
    return execFileSync('ps', ['-o', 'stat=', '-p', String(process.pid)], { encoding: 'utf8' }).includes('+')
  }
  // The name of the program is in brackets and may have spaces. After it: state, parent, group, session, terminal, its group.
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[2] === fields[5]
}

/** How long the rest of a sequence may take. Pasted text has gaps that are shorter than this. */
export const GAP_MS = 150

/**
 * A key that is held down has repeated by then: most keyboards wait 500 or 660 ms, and Windows can be set to one second.
 * The rest is for terminals and links that are late.
 */
const HELD_MS = 1200

const PASTE_ON = '\x1b[?2004h'
const PASTE_OFF = '\x1b[?2004l'

/** Keys that a terminal turns into signals, except in the mode that is set here. */
const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = {
  [CTRL_C]: 'SIGINT',
  '\x1a': 'SIGTSTP',
  '\x1c': 'SIGQUIT',
}

export type KeyInput = Readable & { isTTY?: boolean; setRawMode?(mode: boolean): unknown }

export type KeyOutput = NodeJS.WritableStream & { isTTY?: boolean }

export interface KeyListener {
  /** Called for all input, also where it completes no key. */
  keys(keys: readonly Key[]): void
  /** The size of the terminal has changed, or the program continues after Ctrl-Z: what was drawn may be gone. */
  redraw(): void
}

export interface KeyboardOptions {
  input: KeyInput
  output: KeyOutput
  timers?: Timers
  /** Sends a signal that a key stands for. */
  raise?(signal: NodeJS.Signals): void
}

/** As the terminal does it: to every program of the pipeline. */
const raiseInGroup = (signal: NodeJS.Signals) => void process.kill(0, signal)

/**
 * The keyboard while a turn is shown. Reads everything that is typed, without echo, and drops it unless somebody
 * listens. Leaves the terminal as it was: at its end, when the process exits, and while it is suspended.
 */
export class Keyboard implements Disposable {
  readonly timers: Timers
  readonly #input: KeyInput
  readonly #output: KeyOutput
  readonly #raise: (signal: NodeJS.Signals) => void
  readonly #reader = new KeyReader()
  readonly #decoder = new StringDecoder('utf8')
  readonly #listeners = new Set<KeyListener>()
  readonly #handlers: readonly [NodeJS.Signals | 'exit', () => void][]
  #waiting = new AbortController()
  #typing = new AbortController()
  #rested: Promise<void> = Promise.resolve()
  #isActive = false

  constructor({ input, output, timers = systemTimers, raise = raiseInGroup }: KeyboardOptions) {
    this.#input = input
    this.#output = output
    this.#raise = raise
    this.timers = timers
    this.#handlers = input.isTTY
      ? [
          ['SIGTSTP', () => this.#suspend()],
          ['SIGCONT', () => this.#resume()],
          ['exit', () => this.#release()],
        ]
      : []
    for (const [name, handler] of this.#handlers) process.on(name, handler)
    output.on('resize', this.#redraw)
    input.on('data', this.#read).on('error', this.#ignore).pause()
    if (!input.isTTY || isForeground()) this.#take()
  }

  /** Passes keys on until disposed, while this process has its terminal. A job in the background gets none. */
  overhear(listener: KeyListener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Passes keys on until disposed. A job in the background is stopped here by the system until it is in the foreground. */
  listen(listener: KeyListener): Disposable {
    this.#take()
    return this.overhear(listener)
  }

  /** Settles when a key that was typed last, also before anybody listened, cannot be one that is held down. */
  async rested(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = () => resolve()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    await Promise.race([this.#rested, promise])
    signal.removeEventListener('abort', stop)
  }

  [Symbol.dispose](): void {
    this.#waiting.abort()
    this.#typing.abort()
    this.#release()
    for (const [name, handler] of this.#handlers) process.off(name, handler)
    this.#output.off('resize', this.#redraw)
    this.#input.off('data', this.#read)
  }

  readonly #read = (chunk: Buffer | string): void => {
    this.#waiting.abort()
    this.#typing.abort()
    this.#typing = new AbortController()
    this.#rested = this.timers.sleep(HELD_MS, this.#typing.signal)
    this.#deliver(this.#reader.push(typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)))
    if (this.#reader.isPartial) void this.#flushLater()
  }

  readonly #redraw = (): void => {
    for (const listener of [...this.#listeners]) listener.redraw()
  }

  /** A closed terminal is reported by SIGHUP. */
  readonly #ignore = (): void => undefined

  #deliver(keys: readonly Key[]): void {
    const isSignal = ({ text }: Key) => SIGNALS[text] !== undefined
    for (const { text } of keys) {
      const signal = SIGNALS[text]
      if (signal) this.#raise(signal)
    }
    const others = keys.filter((key) => !isSignal(key))
    for (const listener of [...this.#listeners]) listener.keys(others)
  }

  async #flushLater(): Promise<void> {
    this.#waiting = new AbortController()
    const { signal } = this.#waiting
    await this.timers.sleep(GAP_MS, signal)
    if (!signal.aborted) this.#deliver(this.#reader.flush())
  }

  #take(): void {
    if (this.#isActive) return
    this.#isActive = true
    if (this.#input.isTTY) this.#input.setRawMode?.(true)
    if (this.#marksPastes) this.#output.write(PASTE_ON)
    this.#input.resume()
  }

  #release(): void {
    if (!this.#isActive) return
    this.#isActive = false
    this.#input.pause()
    if (this.#input.isTTY) this.#input.setRawMode?.(false)
    if (this.#marksPastes) this.#output.write(PASTE_OFF)
  }

  #suspend(): void {
    this.#release()
    process.kill(process.pid, 'SIGSTOP')
  }

  #resume(): void {
    // The shell has changed the mode of the terminal meanwhile, which Node does not know.
    this.#release()
    if (isForeground()) this.#take()
    this.#redraw()
  }

  get #marksPastes(): boolean {
    return this.#output.isTTY === true && process.env.TERM !== 'dumb'
  }
}
