import type { AskPerson } from '../../attend/attend.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { Entry } from '../../model/index.ts'
import { printable } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { askingView, showAs, showRequests, showToPeople, USUAL_COLUMNS } from '../render/show.ts'
import type { TerminalView } from '../render/view.ts'
import { askAt } from '../terminal/ask.ts'
import { Keyboard } from '../terminal/keyboard.ts'
import { Terminal } from '../terminal/terminal.ts'
import { type DialectFlags, dialectOf } from './dialect-of.ts'
import { finalAnswer } from './final-answer.ts'
import { advance, newStatus, statusLine } from './status.ts'

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
  readonly #view: TerminalView
  readonly #people: (entry: Entry) => string
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
    this.#terminal = new Terminal(this.#stderr, () => stderr.columns || USUAL_COLUMNS)
    this.#lines = dialect && showAs(dialect)
    const isSilent = dialect !== undefined || quiet
    this.#isSilent = isSilent
    this.#view = askingView(stderr)
    const showRequest = this.canAsk ? showRequests(stderr, this.#view) : () => ''
    this.#people = isSilent ? showRequest : showToPeople(stderr, this.canAsk ? this.#view : undefined)
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

  /** The keyboard for a turn; absent if no person can answer. */
  keyboard(): Keyboard | undefined {
    const { stdin: input, stderr: output } = this.#streams
    return this.canAsk ? new Keyboard({ input, output }) : undefined
  }

  /** Prompts on standard error. */
  answerWith(keyboard: Keyboard): AskPerson {
    const output = this.#streams.stderr
    const print = (text: string) => this.#terminal.print(text)
    const ask = askAt({ keyboard, output, view: this.#view, print })
    return async (request, asking) => {
      this.#isAsking = true
      await this.#terminal.status('')
      try {
        return await ask(request, asking)
      } finally {
        this.#isAsking = false
      }
    }
  }

  async show(entry: Entry): Promise<void> {
    advance(this.#status, entry, Date.now())
    if (this.#lines) await this.#stdout.print(this.#lines(entry))
    await this.#terminal.print(this.#people(entry))
    if (!this.#status.timeline.running) await this.#terminal.status('')
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
    await this.#stdout.print(printable(finalAnswer(this.#status.timeline)))
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticker)
  }

  #tick(): void {
    if (!this.#isAsking)
      void this.#terminal.status(statusLine(this.#status, Date.now(), this.#isInterrupting))
  }
}
