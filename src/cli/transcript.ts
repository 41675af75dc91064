import type { Dialect } from '../dialects/dialect.ts'
import type { Entry } from '../model/index.ts'
import { askAt } from './ask.ts'
import { type DialectFlags, dialectOf } from './dialect-of.ts'
import type { Answerer } from './drive.ts'
import { FinalAnswer } from './final-answer.ts'
import { printable } from './printable.ts'
import { Printer } from './printer.ts'
import { showAs, showRequests, showToPeople } from './show.ts'
import { advance, newStatus, statusLine } from './status.ts'
import { Terminal } from './terminal.ts'

export interface TranscriptFlags extends DialectFlags {
  quiet?: boolean
}

export interface Streams {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
}

const TICK_MS = 100

/**
 * Where a session is shown: the final answer on standard output, everything else on standard error. On a terminal
 * that shows both, the answer is not repeated. With `--json` or `--dialect`, standard output has only those lines.
 */
export class Transcript implements Disposable {
  readonly #streams: Streams
  readonly #stdout: Printer
  readonly #stderr: Printer
  readonly #terminal: Terminal
  readonly #lines: ((entry: Entry) => string) | undefined
  readonly #people: (entry: Entry) => string
  readonly #answer = new FinalAnswer()
  readonly #status = newStatus()
  readonly #ticker: NodeJS.Timeout | undefined
  readonly #isSilent: boolean
  #isAsking = false
  #isInterrupting = false

  static async open(streams: Streams, flags: TranscriptFlags): Promise<Transcript> {
    return new Transcript(streams, await dialectOf(flags), flags.quiet)
  }

  private constructor(streams: Streams, dialect: Dialect | undefined, quiet = false) {
    const { stdout, stderr } = streams
    this.#streams = streams
    this.#stdout = new Printer(stdout)
    this.#stderr = new Printer(stderr)
    this.#terminal = new Terminal(this.#stderr, () => stderr.columns ?? 80)
    this.#lines = dialect && showAs(dialect, stdout)
    const isSilent = dialect !== undefined || quiet
    this.#isSilent = isSilent
    this.#people = isSilent ? (this.canAsk ? showRequests(stderr) : () => '') : showToPeople(stderr)
    if (!isSilent && stderr.isTTY && process.env.TERM !== 'dumb')
      this.#ticker = setInterval(() => this.#tick(), TICK_MS).unref()
  }

  /** Whether a person can answer. */
  get canAsk(): boolean {
    return this.#streams.stdin.isTTY === true && this.#streams.stderr.isTTY === true
  }

  /** Aborts when the reader of the output has closed the pipe. */
  get closed(): AbortSignal {
    return this.#stdout.closed
  }

  /** Prompts on standard error; absent if no person can answer. */
  get answer(): Answerer | undefined {
    if (!this.canAsk) return undefined
    const ask = askAt(this.#streams.stdin, this.#streams.stderr)
    return async (request, signal) => {
      this.#isAsking = true
      await this.#terminal.status('')
      try {
        return await ask(request, signal)
      } finally {
        this.#isAsking = false
      }
    }
  }

  async show(entry: Entry): Promise<void> {
    this.#answer.take(entry)
    advance(this.#status, entry, Date.now())
    if (this.#lines) await this.#stdout.print(this.#lines(entry))
    await this.#terminal.print(this.#people(entry))
    if (this.#status.startedAt === undefined) await this.#terminal.status('')
  }

  /** The turn was told to stop. */
  interrupting(): void {
    this.#isInterrupting = true
  }

  /** A line of ours on standard error. */
  async note(text: string): Promise<void> {
    await this.#terminal.status('')
    await this.#terminal.print(`${printable(text)}\n`)
  }

  /** Prints the final answer, where standard output does not show it already. */
  async finish(): Promise<void> {
    const { stdout, stderr } = this.#streams
    await this.#terminal.status('')
    const isShown = stdout.isTTY && stderr.isTTY && !this.#isSilent
    if (this.#lines || isShown) return
    await this.#stdout.print(stdout.isTTY ? printable(this.#answer.line) : this.#answer.line)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticker)
  }

  #tick(): void {
    if (!this.#isAsking)
      void this.#terminal.status(statusLine(this.#status, Date.now(), this.#isInterrupting))
  }
}
