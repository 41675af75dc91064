import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN } from '../mainstem-process.ts'
import { ScreenText } from './screen-text.ts'
import { logOptions } from './terminal-log.ts'

export const CTRL_C = '\x03'
export const ENTER = '\r'
export const DOWN = '\x1b[B'

export interface TerminalOptions {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  columns?: number
  rows?: number
  /** Where `script` logs what passes the terminal, and when. */
  log?: string
}

let opened = 0

/** How long a screen may take. Only a hang reaches it. */
const PATIENCE_MS = 50_000

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/**
 * A program in a real terminal of the kernel, which `script` makes: every Debian, Ubuntu and Alpine with util-linux has
 * it. Keys go in, and the screen that a person would see can be read.
 */
export class PseudoTerminal implements AsyncDisposable {
  /** Everything that was written to the terminal, with its sequences. */
  raw = ''
  readonly exited: Promise<number | null>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #screen: ScreenText
  /** A file with the name of the terminal. */
  readonly #device: string
  #size: string
  readonly #waiting = new Set<() => void>()
  #isOver = false

  constructor(command: string, { env, cwd, columns = 100, rows = 30, log }: TerminalOptions) {
    this.#screen = new ScreenText(columns)
    this.#size = `${columns} ${rows}`
    this.#device = join(cwd, `.terminal-${process.pid}-${opened++}`)
    const sized = `tty > ${quoted(this.#device)}; stty cols ${columns} rows ${rows}; ${command}`
    const written = log === undefined ? ['/dev/null'] : logOptions(log)
    this.#child = spawn('script', ['-qefc', sized, ...written], { env: { SHELL: '/bin/bash', ...env }, cwd })
    this.#child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      this.raw += piece
      this.#screen.write(piece)
      this.#wake()
    })
    // A program that has ended reads no more keys.
    this.#child.stdin.on('error', () => undefined)
    this.exited = new Promise((resolve) =>
      this.#child.once('close', (code) => {
        this.#isOver = true
        this.#wake()
        resolve(code)
      }),
    )
  }

  /** The command line of Mainstem in a terminal. */
  static mainstem(args: readonly string[], options: TerminalOptions): PseudoTerminal {
    return new PseudoTerminal(
      ['exec', quoted(process.execPath), ...[MAIN, ...args].map(quoted)].join(' '),
      options,
    )
  }

  press(keys: string): void {
    this.#child.stdin.write(keys)
  }

  /**
   * As if the window was resized. Nothing happens if the program has ended. Returns when it was, if the size changed: the
   * kernel tells the program of no other.
   */
  resize(columns: number, rows: number): number | undefined {
    const size = `${columns} ${rows}`
    if (size === this.#size) return undefined
    this.#size = size
    const device = readFileSync(this.#device, 'utf8').trim()
    this.#screen.resize(columns)
    // Starting a program takes long on a busy machine: the shell knows better than this process when it is about to.
    const set = `echo $EPOCHREALTIME; exec stty -F ${quoted(device)} cols ${columns} rows ${rows}`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', set], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    })
    if (status !== 0 && existsSync(device)) throw new Error(stderr)
    return Number(stdout) * 1000
  }

  /** What a person has seen so far, without what was erased. */
  get text(): string {
    return this.#screen.text
  }

  /** Settles when the screen shows it, and fails with the screen if it never does. */
  async shows(expected: string | RegExp): Promise<void> {
    const isThere = () =>
      typeof expected === 'string' ? this.text.includes(expected) : expected.test(this.text)
    const late = AbortSignal.timeout(PATIENCE_MS)
    late.addEventListener('abort', () => this.#wake(), { once: true })
    while (!isThere()) {
      if (this.#isOver || late.aborted)
        throw new Error(`the terminal does not show ${expected}:\n${this.text}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // It then closes the terminal, as if the window was closed.
    if (!this.#isOver) this.#child.kill('SIGTERM')
    await this.exited
  }

  #wake(): void {
    for (const resolve of [...this.#waiting]) resolve()
    this.#waiting.clear()
  }
}
