import { setImmediate } from 'node:timers/promises'
import type { Write } from '../../agents/agent.ts'
import { type ErrorCode, type ErrorInfo, MainstemError } from '../../model/index.ts'
import type { Lasting, Run, RunExit, Timers } from '../driver.ts'
import type { FrameQueue } from './frame-queue.ts'
import { type Graces, type Tree, terminate } from './terminate.ts'

/** All processes of a run, and the subset that the tools of one turn started. */
interface RunTree extends Tree {
  tools(since: number, until: number): Tree
}

/** After the exit, reads the pipes until they end or stay quiet for this long; a grandchild may keep them open. */
export const QUIET_MS = 250
const MAX_QUIET_CHECKS = 8

/** An upper bound for the data that the pipes of an exited child can hold. */
const LEFT_IN_PIPES = 4 * 1024 * 1024

/** One output of a process. */
export interface Output {
  /** Settles when nothing more can arrive. */
  readonly ended: Promise<void>
  /** The number of bytes read so far; it stays constant while the output is quiet. */
  readonly bytesRead: number
  /** Stops reading and emits the remaining text without a newline. */
  finish(): Promise<void>
}

/** Reports a failure of a process, which ends it. */
export type Fail = (code: ErrorCode, thrown: unknown) => void

/** A started process with its input and its outputs: pipes, or files that outlive this process. */
export interface Channels {
  readonly pid: number | undefined
  readonly outputs: readonly Output[]
  readonly exited: Promise<RunExit>
  /** Settles when the write completed or can no longer complete. */
  write(write: Exclude<Write, { kind: 'http' }>): Promise<void>
  /** Sends SIGKILL to the first process. Returns false if it has exited. */
  kill(): boolean
  /** Called once, before the processes are terminated. */
  stopping?(): void
  readonly lasting?: Lasting
}

interface ProcessRunSetup {
  tree: RunTree
  /** The current time in the unit of process start times; undefined where start times cannot be compared. */
  now(): number | undefined
  timers: Timers
  graces: Graces
  queue: FrameQueue
  firstSignal?: 'SIGINT' | 'SIGTERM' | undefined
  /** Removes the temporary resources of this run. */
  cleanUp(): Promise<void>
}

/** One process, from its start until all of its processes have ended. */
export class ProcessRun implements Run {
  readonly frames: FrameQueue
  readonly exit: Promise<RunExit>
  readonly exited: Promise<RunExit>
  readonly outputClosed: Promise<void>
  readonly #channels: Channels
  readonly #setup: ProcessRunSetup
  readonly #exited = Promise.withResolvers<RunExit>()
  #ending: Promise<void> | undefined
  #error: ErrorInfo | undefined
  #survivors: readonly number[] = []

  constructor(open: (fail: Fail) => Channels, setup: ProcessRunSetup) {
    this.#setup = setup
    this.frames = setup.queue
    const channels = open((code, thrown) => this.#fail(code, thrown))
    this.#channels = channels
    const [stdout] = channels.outputs
    this.exited = this.#exited.promise
    this.outputClosed = stdout?.ended ?? Promise.resolve()
    void channels.exited.then(this.#exited.resolve)
    this.exit = this.#conclude()
  }

  get lasting(): Lasting | undefined {
    return this.#channels.lasting
  }

  get pid(): number | undefined {
    return this.#channels.pid
  }

  async write(write: Write): Promise<void> {
    if (write.kind === 'http')
      throw new MainstemError('unsupported_option', 'This agent is a process and takes no HTTP request.')
    return this.#channels.write(write)
  }

  stop(): Promise<void> {
    return this.#end(this.#setup.firstSignal ?? 'SIGINT')
  }

  moment(): number | undefined {
    return this.#setup.now()
  }

  async endTools(since: number): Promise<readonly number[]> {
    const { tree, graces, timers, now } = this.#setup
    // Captured now: tools of the next turn may start while these are terminated.
    const until = now()
    if (until === undefined) return []
    const left = await terminate(tree.tools(since, until), graces, timers, 'SIGTERM')
    return left.map(({ pid }) => pid)
  }

  async #conclude(): Promise<RunExit> {
    const exited = await this.#exited.promise
    await this.#drain()
    // Terminates processes that the run left behind, even after a normal exit.
    await this.#end('SIGTERM')
    this.frames.widen(LEFT_IN_PIPES)
    await this.#drain()
    await Promise.all(this.#channels.outputs.map((output) => output.finish()))
    this.frames.close()
    await this.#setup.cleanUp()
    return {
      ...exited,
      ...(this.#error && { error: this.#error }),
      ...(this.#survivors.length > 0 && { survivors: this.#survivors }),
    }
  }

  /** Waits for both outputs to end, but not for a pipe that another process only keeps open. */
  async #drain(): Promise<void> {
    const { outputs } = this.#channels
    const ended = new AbortController()
    void Promise.all(outputs.map((output) => output.ended)).then(() => ended.abort())
    const bytesRead = () => outputs.reduce((sum, output) => sum + output.bytesRead, 0)
    for (let check = 0, before = -1; check < MAX_QUIET_CHECKS && before !== bytesRead(); check++) {
      before = bytesRead()
      await this.#setup.timers.sleep(QUIET_MS, ended.signal)
      // If this process was starved of CPU, timers fire before I/O is polled. Polls once more before the pipe counts as
      // quiet.
      await setImmediate()
      if (ended.signal.aborted) return
    }
  }

  #end(first: 'SIGINT' | 'SIGTERM'): Promise<void> {
    this.#ending ??= this.#terminate(first)
    return this.#ending
  }

  async #terminate(first: 'SIGINT' | 'SIGTERM'): Promise<void> {
    const { tree, graces, timers } = this.#setup
    this.#channels.stopping?.()
    try {
      const survivors = await terminate(tree, graces, timers, first)
      this.#survivors = survivors.map(({ pid }) => pid)
      if (this.pid === undefined) return
      // An exited child is a zombie until its exit is reported; waiting for the report reaps it.
      if (!this.#survivors.includes(this.pid)) return void (await this.#exited.promise)
      // Ends the run anyway: a process that cannot be killed must not block the turn.
      this.#fail('unknown', `SIGKILL did not end process ${this.pid}`)
      this.#exited.resolve({})
    } catch (thrown) {
      // The process list is unavailable. Kills at least the direct child; if it had already exited, its exit code is
      // kept.
      if (this.#channels.kill()) this.#fail('unknown', thrown)
    }
  }

  /** Reports only the first failure. Every failure terminates the child. */
  #fail(code: ErrorCode, thrown: unknown): void {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    this.#error ??= thrown instanceof MainstemError ? { code: thrown.code, message } : { code, message }
    void this.stop()
  }
}
