import type { AskPerson } from '../../attend/attend.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { Entry } from '../../model/index.ts'
import { printable } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { askingView, screenOn, showAs, showRequests, showToPeople, USUAL_COLUMNS } from '../render/show.ts'
import { newView, type TerminalView } from '../render/view.ts'
import { cut } from '../render/wrap.ts'
import { askAt } from '../terminal/ask.ts'
import type { Composer } from '../terminal/composer/composer.ts'
import { draftRows } from '../terminal/composer/draft-rows.ts'
import { Keyboard } from '../terminal/keyboard.ts'
import { Terminal } from '../terminal/terminal.ts'
import { finalAnswer } from './final-answer.ts'
import { advance, newStatus, statusLine, type TurnStatus } from './status.ts'

export interface TranscriptFlags extends DialectFlags {
  quiet?: boolean
}

export interface Streams {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
}

const TICK_MS = 100

/** What an agent does after it reached its model. */
const ANSWERS: ReadonlySet<string> = new Set(['text', 'thinking', 'tool', 'request', 'outcome'])

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
  #composer: Composer | undefined
  #composerHint: ((draft: string) => string) | undefined
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
    this.#view = this.canAsk ? askingView(stderr) : newView(screenOn(stderr))
    const showRequest = this.canAsk ? showRequests(stderr, this.#view) : () => ''
    this.#people = isSilent ? showRequest : showToPeople(stderr, this.#view)
    if (!isSilent && stderr.isTTY && process.env.TERM !== 'dumb')
      this.#ticker = setInterval(() => this.redraw(), TICK_MS).unref()
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

  /** Whether prompts can be written below the transcript. */
  get canCompose(): boolean {
    return this.canAsk && !this.#isSilent
  }

  /** Whether lines below the transcript can be drawn again. */
  get canDraw(): boolean {
    return this.#ticker !== undefined
  }

  /** Whether the agent has written or done something. */
  get hasAnswer(): boolean {
    return this.#status.timeline.items.some(({ kind }) => ANSWERS.has(kind))
  }

  /** Sets the directory of a session whose first entry is not shown: paths are relative to it. */
  workIn(cwd: string): void {
    this.#view.cwd = cwd
    this.#status.cwd = cwd
  }

  /** What is known about the turn that runs. */
  get status(): TurnStatus {
    return this.#status
  }

  /** Shows the draft of a composer below the transcript, and what can be done with it. */
  compose(composer: Composer, hint: (draft: string) => string): void {
    this.#composer = composer
    this.#composerHint = hint
  }

  /** Prompts on standard error. The composer leaves the keyboard to the request. */
  answerWith(keyboard: Keyboard): AskPerson {
    const output = this.#streams.stderr
    const print = (text: string) => this.#terminal.print(text)
    const ask = askAt({ keyboard, output, view: this.#view, print })
    return async (request, asking) => {
      this.#isAsking = true
      this.#composer?.pause()
      await this.#terminal.status('')
      try {
        return await ask(request, asking)
      } finally {
        this.#isAsking = false
        this.#composer?.resume()
      }
    }
  }

  async show(entry: Entry): Promise<void> {
    advance(this.#status, entry, Date.now())
    if (this.#lines) await this.#stdout.print(this.#lines(entry))
    const { event } = entry
    if (event.type === 'turn.started') {
      this.#isInterrupting = false
      if (event.prompt !== undefined) this.#composer?.remember(event.prompt)
    }
    await this.#terminal.print(this.#people(entry))
    if (!this.#status.timeline.running && !this.#composer?.isBusy) await this.#terminal.status('')
  }

  /** The turn was told to stop. */
  interrupting(): void {
    this.#isInterrupting = true
  }

  /** A line of ours on standard error. */
  async note(text: string): Promise<void> {
    await this.#terminal.status('')
    await this.#terminal.print(`${this.#terminal.lineBreak}${printable(text)}\n`)
  }

  /** Does something that prints on its own. */
  async aside(action: () => Promise<void>): Promise<void> {
    await this.#terminal.status('')
    await this.#terminal.print(this.#terminal.lineBreak)
    await action()
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

  /** Draws the status line and the draft below the transcript. */
  redraw(): void {
    if (this.#isAsking || this.#ticker === undefined) return
    const status = statusLine(this.#status, Date.now(), this.#isInterrupting)
    const composer = this.#composer
    if (!composer || (status === '' && !composer.isBusy)) return void this.#terminal.status(status)
    const columns = this.#streams.stderr.columns || USUAL_COLUMNS
    const { colors } = this.#view.screen
    const { draft } = composer
    const hint = cut(this.#composerHint?.(draft.text) ?? '', columns - 3)
    const above = status === '' ? [] : [status]
    const mark = colors.cyan('❯ ')
    const { lines, caret = { row: 0, column: 0 } } = draftRows(draft, columns, mark)
    const below =
      draft.text === ''
        ? [`${mark}${colors.dim(hint)}`]
        : [...lines, ...(hint === '' ? [] : [`  ${colors.dim(hint)}`])]
    void this.#terminal.footer({
      lines: [...above, ...below],
      caret: { row: above.length + caret.row, column: caret.column },
    })
  }
}

export interface DialectFlags {
  json?: boolean
  dialect?: string
}

/** The dialect that a command prints, loaded only if it prints one; undefined if it prints for people. */
export async function dialectOf({ json, dialect }: DialectFlags): Promise<Dialect | undefined> {
  if (json || dialect === 'mainstem') return (await import('../../dialects/mainstem.ts')).mainstem
  if (dialect === undefined) return undefined
  return (await import('../../dialects/index.ts')).dialects.get(dialect)
}
