import type { BuiltinLaunch, Write } from '../agents/agent.ts'
import { type Frame, jsonFrame } from '../framing/frame.ts'
import { MainstemError, toMainstemError } from '../model/index.ts'
import type { Driver, Run, RunExit, Timers } from './driver.ts'

/** Runs built-in agents in this process. */
export function builtinDriver({ timers }: { timers: Timers }): Driver<BuiltinLaunch> {
  return { start: (launch) => new BuiltinRun(launch, timers) }
}

class BuiltinRun implements Run {
  readonly pid = undefined
  readonly frames: AsyncIterable<readonly Frame[]>
  readonly exit: Promise<RunExit>
  readonly #launch: BuiltinLaunch
  readonly #timers: Timers
  readonly #exited = Promise.withResolvers<RunExit>()
  readonly #stopped = new AbortController()
  readonly #lines: string[] = []
  /** Text after the last newline. */
  #open = ''
  #inputEnded = false
  #wake: (() => void) | undefined

  constructor(launch: BuiltinLaunch, timers: Timers) {
    this.#launch = launch
    this.#timers = timers
    this.exit = this.#exited.promise
    this.frames = this.#conclude()
  }

  async write(write: Write): Promise<void> {
    switch (write.kind) {
      case 'text': {
        const lines = (this.#open + write.text).split('\n')
        this.#open = lines.pop() ?? ''
        this.#lines.push(...lines)
        break
      }
      case 'end':
        if (this.#open !== '') this.#lines.push(this.#open)
        this.#open = ''
        this.#inputEnded = true
        break
      case 'http':
        throw new MainstemError('unsupported_option', 'This agent is built in and takes no HTTP request.')
      default:
        write satisfies never
    }
    this.#wake?.()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    this.#exited.resolve({ signal: 'SIGTERM' })
    this.#wake?.()
  }

  /** Lazy: a built-in agent stops producing when its frames are not read, as a process with a full pipe would. */
  async *#conclude(): AsyncGenerator<readonly Frame[], void, undefined> {
    try {
      yield* this.#answer()
      this.#exited.resolve({ code: 0 })
    } catch (thrown) {
      const { code, message } = toMainstemError(thrown)
      this.#exited.resolve({ error: { code, message } })
    }
  }

  async *#answer(): AsyncGenerator<readonly Frame[], void, undefined> {
    for (;;) {
      const line = this.#lines.shift()
      if (this.#stopped.signal.aborted) return
      if (line !== undefined) yield* this.#play(line)
      else if (this.#inputEnded) return
      else await this.#written()
    }
  }

  /** Emits consecutive lines without a delay between them as one batch. */
  async *#play(line: string): AsyncGenerator<readonly Frame[], void, undefined> {
    let batch: Frame[] = []
    for (const beat of this.#launch.reply(line)) {
      if (beat.afterMs > 0) {
        if (batch.length > 0) yield batch
        batch = []
        await this.#timers.sleep(beat.afterMs, this.#stopped.signal)
      }
      if (this.#stopped.signal.aborted) return
      batch.push(jsonFrame('stdout', beat.line))
    }
    if (batch.length > 0) yield batch
  }

  #written(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
