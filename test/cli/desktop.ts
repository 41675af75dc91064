import { type Duplex, PassThrough } from 'node:stream'
import { setImmediate as nextTick } from 'node:timers/promises'
import picocolors from 'picocolors'
import { newView } from '../../src/cli/render/view.ts'
import { askAt } from '../../src/cli/terminal/ask.ts'
import { Keyboard } from '../../src/cli/terminal/keyboard.ts'
import type { RequestOpened } from '../../src/model/events/request.ts'
import type { AnswerCommand, MainstemError } from '../../src/model/index.ts'

/** A terminal whose time passes only where the test says so. */
export class Desktop implements Disposable {
  readonly input: Duplex
  readonly output = new PassThrough()
  readonly over = new AbortController()
  readonly raised: string[] = []
  readonly #sleeping = new Map<() => void, number>()
  readonly #keyboard: Keyboard
  shown = ''

  constructor(input: Duplex = new PassThrough()) {
    this.input = input
    this.output.on('data', (chunk) => {
      this.shown += chunk
    })
    const sleep = (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        this.#sleeping.set(resolve, ms)
        signal.addEventListener('abort', () => resolve(), { once: true })
        if (signal.aborted) resolve()
      })
    this.#keyboard = new Keyboard({
      input: this.input,
      output: this.output,
      timers: { sleep },
      raise: (signal) => this.raised.push(signal),
    })
  }

  ask(
    request: RequestOpened,
    rows = 40,
    waiting: number | (() => number) = 0,
    refused?: MainstemError,
  ): Promise<AnswerCommand | undefined> {
    const view = newView({ colors: picocolors.createColors(false), columns: () => 80, rows: () => rows })
    const print = async (text: string) => void this.output.write(text)
    const desk = { keyboard: this.#keyboard, output: this.output, view, print }
    return askAt(desk)(request, {
      signal: this.over.signal,
      waiting: typeof waiting === 'number' ? () => waiting : waiting,
      ...(refused && { refused }),
    })
  }

  /** Lets everything happen that needs no time. */
  async idle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await nextTick()
  }

  /** Lets every wait end, or the waits that have no more than `ms` left. */
  async pass(ms = Number.POSITIVE_INFINITY): Promise<void> {
    await this.idle()
    this.endWaits(ms)
    await this.idle()
  }

  /** The same at once, so that a program whose event loop was blocked finds the ends of its waits together with its input. */
  endWaits(ms = Number.POSITIVE_INFINITY): void {
    for (const [wake, left] of [...this.#sleeping]) {
      this.#sleeping.set(wake, left - ms)
      if (left > ms) continue
      this.#sleeping.delete(wake)
      wake()
    }
  }

  /** Input that arrives in one piece. */
  async type(keys: string): Promise<void> {
    this.input.write(keys)
    await this.idle()
  }

  /** A key with pauses around it. */
  async press(key: string): Promise<void> {
    await this.pass()
    await this.type(key)
    await this.pass()
  }

  [Symbol.dispose](): void {
    this.#keyboard[Symbol.dispose]()
  }
}
