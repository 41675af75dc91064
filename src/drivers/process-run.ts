import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import type { Write } from '../agents/agent.ts'
import { type BlobSink, type ErrorCode, type ErrorInfo, MainstemError } from '../model/index.ts'
import type { Run, RunExit, Timers } from './driver.ts'
import { FrameQueue } from './frame-queue.ts'
import { PipeReader, type PipeSetup } from './pipe-reader.ts'
import { type Graces, type Tree, terminate } from './terminate.ts'

/** Everything that a run started, and the part of it that tools of one turn started. */
interface RunTree extends Tree {
  tools(since: number, until: number): Tree
}

/** After the exit the pipes are read until they end, or are quiet for this long; a grandchild may hold them open. */
export const QUIET_MS = 250
const MAX_QUIET_CHECKS = 8

/** More than the pipes of a dead child can hold. */
const LEFT_IN_PIPES = 4 * 1024 * 1024

interface ProcessRunSetup {
  tree: RunTree
  /** The moment, as start times of processes count it; nothing where they cannot be compared. */
  now(): number | undefined
  blobs: BlobSink
  timers: Timers
  graces: Graces
  queueBytes: number
  maxLineBytes: number | undefined
  firstSignal?: 'SIGINT' | 'SIGTERM' | undefined
  /** Takes away what was made for this run alone. */
  cleanUp(): Promise<void>
}

/** One child process from its start until nothing of it is left. */
export class ProcessRun implements Run {
  readonly pid: number | undefined
  readonly frames: FrameQueue
  readonly exit: Promise<RunExit>
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
      blobs: setup.blobs,
      maxLineBytes: setup.maxLineBytes,
      fail: (code, thrown) => this.#fail(code, thrown),
    }
    this.#pipes = [
      new PipeReader('stdout', child.stdout, reading),
      new PipeReader('stderr', child.stderr, reading),
    ]
    child.once('exit', (code, signal) => {
      this.#exited.resolve({ ...(code !== null && { code }), ...(signal !== null && { signal }) })
    })
    child.on('error', (thrown) => this.#fail('unknown', thrown))
    // A child that no longer reads breaks the pipe; what that means is told by how it exits.
    child.stdin.on('error', () => child.stdin.destroy())
    this.exit = this.#conclude()
  }

  /** Settles when the child's side has taken it, or never will. */
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
    // The next turn may begin meanwhile, and its tools must not be hit.
    const until = now()
    if (until === undefined) return []
    const left = await terminate(tree.tools(since, until), graces, timers, 'SIGTERM')
    return left.map(({ pid }) => pid)
  }

  async #conclude(): Promise<RunExit> {
    const exited = await this.#exited.promise
    await this.#drain()
    // What a run leaves behind ends with it, also after an exit of its own.
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

  /** Waits for the end of both pipes, but not for one that is only held open. */
  async #drain(): Promise<void> {
    const ended = new AbortController()
    void Promise.all(this.#pipes.map((pipe) => pipe.ended)).then(() => ended.abort())
    const bytesRead = () => this.#pipes.reduce((sum, pipe) => sum + pipe.bytesRead, 0)
    for (let check = 0, before = -1; check < MAX_QUIET_CHECKS && before !== bytesRead(); check++) {
      before = bytesRead()
      await this.#setup.timers.sleep(QUIET_MS, ended.signal)
      // After long without the processor, timers are due before a pipe is looked at: it is quiet once it was.
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
      // A dead child is a zombie until its exit is reported: waiting for that leaves nothing behind.
      if (!this.#survivors.includes(this.pid)) return void (await this.#exited.promise)
      // The run ends all the same: a process that cannot be killed must not hold up a turn.
      this.#fail('unknown', `SIGKILL did not end process ${this.pid}`)
      this.#exited.resolve({})
    } catch (thrown) {
      // Processes cannot be listed. At least our own child goes; if it went before, its own exit stands.
      if (this.#child.kill('SIGKILL')) this.#fail('unknown', thrown)
    }
  }

  /** The first failure is the one to tell; none of them may leave the child running. */
  #fail(code: ErrorCode, thrown: unknown): void {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    this.#error ??= thrown instanceof MainstemError ? { code: thrown.code, message } : { code, message }
    void this.stop()
  }
}
