import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import type { Write } from '../../agents/agent.ts'
import { type ErrorCode, type ErrorInfo, MainstemError } from '../../model/index.ts'
import type { ValueSink } from '../../model/text/large-value.ts'
import type { Run, RunExit, Timers } from '../driver.ts'
import { FrameQueue } from './frame-queue.ts'
import { PipeReader, type PipeSetup } from './pipe-reader.ts'
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

interface ProcessRunSetup {
  tree: RunTree
  /** The current time in the unit of process start times; undefined where start times cannot be compared. */
  now(): number | undefined
  values: ValueSink
  timers: Timers
  graces: Graces
  queueBytes: number
  maxLineBytes: number | undefined
  firstSignal?: 'SIGINT' | 'SIGTERM' | undefined
  /** Removes the temporary resources of this run. */
  cleanUp(): Promise<void>
}

/** One child process, from spawn until all of its processes have ended. */
export class ProcessRun implements Run {
  readonly pid: number | undefined
  readonly frames: FrameQueue
  readonly exit: Promise<RunExit>
  readonly outputClosed: Promise<void>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #setup: ProcessRunSetup
  readonly #pipes: readonly PipeReader[]
  readonly #exited = Promise.withResolvers<RunExit>()
  #ending: Promise<void> | undefined
  #error: ErrorInfo | undefined
  #survivors: readonly number[] = []

  constructor(child: ChildProcessWithoutNullStreams, setup: ProcessRunSetup) {
    this.pid = child.pid
    this.#child = child
    this.#setup = setup
    this.frames = new FrameQueue(setup.queueBytes)
    const reading: PipeSetup = {
      queue: this.frames,
      values: setup.values,
      maxLineBytes: setup.maxLineBytes,
      fail: (code, thrown) => this.#fail(code, thrown),
    }
    const stdout = new PipeReader('stdout', child.stdout, reading)
    this.#pipes = [stdout, new PipeReader('stderr', child.stderr, reading)]
    this.outputClosed = stdout.ended
    child.once('exit', (code, signal) => {
      this.#exited.resolve({ ...(code !== null && { code }), ...(signal !== null && { signal }) })
    })
    child.on('error', (thrown) => this.#fail('unknown', thrown))
    // A child that stopped reading breaks the pipe; its exit code or signal reports the reason.
    child.stdin.on('error', () => child.stdin.destroy())
    this.exit = this.#conclude()
  }

  /** Settles when the write completed or can no longer complete. */
  async write(write: Write): Promise<void> {
    const { stdin } = this.#child
    switch (write.kind) {
      case 'text':
        return new Promise((resolve) => stdin.write(write.text, () => resolve()))
      case 'end':
        return new Promise((resolve) => stdin.end(() => resolve()))
      case 'http':
        throw new MainstemError('unsupported_option', 'This agent is a process and takes no HTTP request.')
    }
    write satisfies never
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
    await Promise.all(this.#pipes.map((pipe) => pipe.finish()))
    this.frames.close()
    await this.#setup.cleanUp()
    return {
      ...exited,
      ...(this.#error && { error: this.#error }),
      ...(this.#survivors.length > 0 && { survivors: this.#survivors }),
    }
  }

  /** Waits for both pipes to end, but not for a pipe that another process only keeps open. */
  async #drain(): Promise<void> {
    const ended = new AbortController()
    void Promise.all(this.#pipes.map((pipe) => pipe.ended)).then(() => ended.abort())
    const bytesRead = () => this.#pipes.reduce((sum, pipe) => sum + pipe.bytesRead, 0)
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
      if (this.#child.kill('SIGKILL')) this.#fail('unknown', thrown)
    }
  }

  /** Reports only the first failure. Every failure terminates the child. */
  #fail(code: ErrorCode, thrown: unknown): void {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    this.#error ??= thrown instanceof MainstemError ? { code: thrown.code, message } : { code, message }
    void this.stop()
  }
}
