import type { Launch, Write } from '../../src/agents/agent.ts'
import type { Driver, Run, RunContext, RunExit, Timers } from '../../src/drivers/driver.ts'
import { type Frame, type FrameStream, jsonFrame } from '../../src/framing/frame.ts'
import type { BlobRef } from '../../src/model/index.ts'
import type { LargeValue } from '../../src/model/text/large-value.ts'

/** A run that a test speaks for: it says lines, exits, and sees what was written to it. */
export class FakeRun implements Run {
  readonly pid = undefined
  readonly written: Write[] = []
  readonly launch: Launch
  readonly context: RunContext
  readonly frames: AsyncIterable<readonly Frame[]>
  readonly exit: Promise<RunExit>
  stops = 0
  /** What it does when it is stopped; it dies by SIGTERM unless a test says otherwise. */
  onStop: () => void = () => this.die({ signal: 'SIGTERM' })
  /** Called with everything that is written to it. */
  onWrite: (write: Write) => void = () => undefined
  readonly outputClosed: Promise<void>
  readonly #closed = Promise.withResolvers<void>()
  readonly #exited = Promise.withResolvers<RunExit>()
  readonly #batches: Frame[][] = []
  #wake = Promise.withResolvers<void>()
  #over = false

  constructor(launch: Launch, context: RunContext) {
    this.launch = launch
    this.context = context
    this.exit = this.#exited.promise
    this.outputClosed = this.#closed.promise
    this.frames = this.#read()
  }

  say(...messages: unknown[]): void {
    this.sayOn('stdout', ...messages)
  }

  sayOn(stream: FrameStream, ...messages: unknown[]): void {
    this.#batches.push(messages.map((message) => jsonFrame(stream, JSON.stringify(message))))
    this.#wake.resolve()
  }

  /** Writes lines to its standard error. */
  warn(...lines: string[]): void {
    this.#batches.push(lines.map((text) => ({ stream: 'stderr', text })))
    this.#wake.resolve()
  }

  /** Says a line that is too long to be a frame. */
  sayTooMuch(blob: BlobRef): void {
    this.#batches.push([{ stream: 'stdout', text: '', blob }])
    this.#wake.resolve()
  }

  /** Says a message with large values, which it refers to. */
  sayLarge(message: unknown, ...large: readonly LargeValue[]): void {
    this.#batches.push([{ ...jsonFrame('stdout', JSON.stringify(message)), large }])
    this.#wake.resolve()
  }

  /** Closes its output and lives on. */
  closeOutput(): void {
    this.#closed.resolve()
  }

  get isAlive(): boolean {
    return !this.#over
  }

  die(exit: RunExit): void {
    this.#over = true
    this.#exited.resolve(exit)
    this.#wake.resolve()
  }

  /** Its owner reads no more; the agent lives on. */
  leave(): void {
    this.#over = true
    this.#wake.resolve()
  }

  async write(write: Write): Promise<void> {
    this.written.push(write)
    this.onWrite(write)
  }

  async stop(): Promise<void> {
    this.stops++
    this.onStop()
    await this.exit
  }

  /** Everything written to its stdin. */
  get input(): string {
    return this.written.map((write) => (write.kind === 'text' ? write.text : '')).join('')
  }

  async *#read(): AsyncGenerator<readonly Frame[]> {
    for (;;) {
      const batch = this.#batches.shift()
      if (batch) yield batch
      else if (this.#over) return
      else {
        await this.#wake.promise
        this.#wake = Promise.withResolvers()
      }
    }
  }
}

export class FakeDriver implements Driver {
  readonly runs: FakeRun[] = []
  /** Called with every run before anything is written to it. */
  onStart: (run: FakeRun) => void = () => undefined
  readonly #waiting: { count: number; resolve(run: FakeRun): void }[] = []

  start(launch: Launch, context: RunContext): FakeRun {
    const run = new FakeRun(launch, context)
    this.runs.push(run)
    this.onStart(run)
    for (const { count, resolve } of this.#waiting) if (count === this.runs.length) resolve(run)
    return run
  }

  /** The run of that number, once it was started. */
  run(count = 1): Promise<FakeRun> {
    const run = this.runs[count - 1]
    return run ? Promise.resolve(run) : new Promise((resolve) => this.#waiting.push({ count, resolve }))
  }
}

/** Time that passes only when a test lets it. */
export class FakeTime implements Timers {
  now = 0
  readonly #sleeping = new Set<{ until: number; wake(): void }>()

  /** How many sleep now. */
  get sleepers(): number {
    return this.#sleeping.size
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleeping.delete(sleeper)
        resolve()
      }
      const sleeper = { until: this.now + ms, wake }
      this.#sleeping.add(sleeper)
      signal.addEventListener('abort', wake, { once: true })
    })
  }

  /** The clock goes on while this process is suspended: every sleeper whose time has come wakes late. */
  async jump(ms: number): Promise<void> {
    this.now += ms
    for (const { until, wake } of [...this.#sleeping].toSorted((a, b) => a.until - b.until)) {
      if (until <= this.now) wake()
    }
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** Wakes whoever has slept long enough, one after another, as a clock would. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms
    for (;;) {
      const next = [...this.#sleeping].toSorted((a, b) => a.until - b.until)[0]
      if (!next || next.until > end) break
      this.now = next.until
      next.wake()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.now = end
    await new Promise((resolve) => setImmediate(resolve))
  }
}
