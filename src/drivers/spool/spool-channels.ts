import type { ChildProcess } from 'node:child_process'
import { appendFileSync, type FSWatcher, statSync, watch, writeFileSync } from 'node:fs'
import type { Write } from '../../agents/agent.ts'
import { MainstemError } from '../../model/index.ts'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import type { Lasting, LastingStart, OutputPosition, RunExit } from '../driver.ts'
import type { CutterSetup } from '../process/frame-cutter.ts'
import type { Channels, Fail } from '../process/process-run.ts'
import type { ProcessIdentity, ProcessInfo, ProcessTable } from '../tree/process-table.ts'
import { FileTail } from './file-tail.ts'
import { OutputHolders } from './output-holders.ts'
import type { SpoolFolder } from './spool-folder.ts'
import { SpoolInput } from './spool-input.ts'

/** Looks at the files this often even if the system reports no change, and at the disk and at an adopted process. */
const POLL_MS = 1_000

/** With less space, output of the agent may be missing from its file. */
const LEAST_DISK_BYTES = 1024 * 1024

const START: OutputPosition = { stdout: 0, stderr: 0 }

export interface SpoolSetup {
  folder: SpoolFolder
  /** The variable that every process of the run has. */
  mark: string
  table: ProcessTable
  /** Lists the processes of the run. */
  members(): Promise<readonly ProcessInfo[]>
  reading: Omit<CutterSetup, 'fail'>
  aheadBytes: number
  /** How much space is free on the disk of a folder. */
  freeBytes(folder: string): number
  /** Starts the launcher. Absent for a run that an earlier process started. */
  launch?: () => ChildProcess
  input: LastingStart['input']
  /** How much of the output an earlier process has committed. */
  from?: OutputPosition
}

/** A process whose input and outputs are files. It loses nothing when this process ends. */
export class SpoolChannels implements Channels {
  readonly outputs: readonly [FileTail, FileTail]
  readonly exited: Promise<RunExit>
  readonly lasting: Lasting
  readonly #setup: SpoolSetup
  readonly #fail: Fail
  readonly #input: SpoolInput | undefined
  readonly #exited = Promise.withResolvers<RunExit>()
  readonly #poll: NodeJS.Timeout
  readonly #holders: OutputHolders
  #watcher: FSWatcher | undefined
  #child: ChildProcess | undefined
  /** The launcher, once it is known. Its start time tells it from another process with the same pid. */
  #launcher: ProcessIdentity | undefined
  /** How much of the standard output had been read at the last look. */
  #bytesSeen = 0
  #hasExited = false
  #isStopping = false
  /** The agent is suspended because it is too far ahead. */
  #isSuspended = false

  constructor(setup: SpoolSetup, fail: Fail) {
    const { folder, reading, launch, input, from = START } = setup
    this.#setup = setup
    this.#fail = fail
    this.exited = this.#exited.promise
    this.outputs = [
      new FileTail('stdout', folder, from.stdout, { ...reading, fail }),
      new FileTail('stderr', folder, from.stderr, { ...reading, fail }),
    ]
    this.#holders = new OutputHolders(setup.table, this.outputs[0].file, setup.members)
    this.#input = input === 'open' ? new SpoolInput(folder, () => this.#hasExited) : undefined
    this.lasting = {
      position: reading.queue.position,
      skip: async () => this.#input?.skip(),
      release: (position) => this.#release(position),
      leave: () => this.#leave(),
    }
    if (input !== 'open' && launch) writeFileSync(folder.file('in'), '', { mode: 0o600 })
    if (!launch) this.#adopt()
    else if (input !== 'whole') this.#launch(launch)
    this.#watch()
    this.#poll = setInterval(() => this.#look(), POLL_MS)
    // Later, because a failure ends the run that is being constructed here.
    queueMicrotask(() => this.#look())
  }

  get pid(): number | undefined {
    return this.#launcher?.pid
  }

  async write(write: Exclude<Write, { kind: 'http' }>): Promise<void> {
    const { folder, launch } = this.#setup
    if (this.#input) {
      if (write.kind === 'text') return this.#input.write(write.text)
      // The agent holds its own input open, so it is told by a signal that it ends.
      await this.#input.skip()
      this.#signal('SIGTERM')
    } else if (write.kind === 'text') appendFileSync(folder.file('in'), write.text)
    else if (launch && !this.#child && !this.#isStopping) this.#launch(launch)
  }

  kill(): boolean {
    return this.#signal('SIGKILL')
  }

  stopping(): void {
    this.#isStopping = true
    // A suspended process keeps signals pending until it is continued.
    this.#resume()
    if (!this.#launcher) this.#end({})
  }

  #launch(launch: () => ChildProcess): void {
    const child = launch()
    this.#child = child
    child.on('error', (thrown) => {
      this.#fail('unknown', thrown)
      this.#end({})
    })
    child.once('exit', (code, signal) => {
      const exit = { ...(code !== null && { code }), ...(signal !== null && { signal }) }
      this.#end(this.#setup.folder.exit ?? exit)
    })
    const { pid } = child
    const started = pid === undefined ? undefined : this.#setup.table.startOf(pid)
    if (pid !== undefined && started !== undefined) this.#launcher = { pid, started }
  }

  #adopt(): void {
    const { folder, table, mark } = this.#setup
    this.#launcher = folder.livingLauncher(table, mark)
    // It may have been suspended by the process that died.
    this.#signal('SIGCONT')
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.#setup.folder.path, (_, name) => {
        if (name === 'out') this.outputs[0].wake()
        else if (name === 'err') this.outputs[1].wake()
        else if (name === 'exit') this.#checkExit()
        if (this.#setup.reading.queue.full) this.#limit()
      })
      // Without reports of changes, as beyond a limit of the system, the poll finds them.
      this.#watcher.on('error', () => undefined)
    } catch (thrown) {
      if (!(thrown instanceof Error && 'syscall' in thrown)) throw thrown
    }
  }

  #look(): void {
    this.#checkExit()
    if (this.#hasExited) return
    for (const output of this.outputs) output.wake()
    this.#limit()
    this.#checkDisk()
    void this.#checkOutput()
  }

  async #checkOutput(): Promise<void> {
    const [{ bytesRead }] = this.outputs
    const hasWritten = bytesRead > this.#bytesSeen
    this.#bytesSeen = bytesRead
    // An agent that has just written has the file open, so there is no need to ask the system, which takes long.
    if (hasWritten) return
    if (this.#launcher && (await this.#holders.isClosed(this.#launcher))) this.outputs[0].last()
  }

  /** Finds the end of a process that an earlier process started, which the system reports to nobody. */
  #checkExit(): void {
    if (this.#hasExited || this.#child || this.#setup.launch) return
    const { folder, table } = this.#setup
    const { exit } = folder
    if (exit) this.#end(exit)
    else if (!this.#launcher || !table.isAlive(this.#launcher))
      // Read again: it may have been recorded since.
      this.#end(folder.exit ?? { unseen: true })
  }

  #end(exit: RunExit): void {
    if (this.#hasExited) return
    this.#hasExited = true
    clearInterval(this.#poll)
    // Its last write may be what failed, since the last look. On a full disk its exit code is not recorded either.
    const hasFailed = exit.unseen === true || (exit.code !== undefined && exit.code !== 0)
    if (hasFailed && !this.#isStopping) this.#checkDisk()
    this.#watcher?.close()
    void this.#input?.close()
    for (const output of this.outputs) output.last()
    this.#exited.resolve(exit)
  }

  #limit(): void {
    const most = this.#setup.aheadBytes
    const ahead = Math.max(...this.outputs.map(({ backlog }) => backlog))
    // Signalled again while it is too far ahead: a guard that suspended it, too, may have continued it.
    if (!this.#isStopping && ahead > most) this.#isSuspended = this.#signal('SIGSTOP')
    else if (this.#isSuspended && ahead < most / 2) this.#resume()
  }

  #resume(): void {
    if (!this.#isSuspended) return
    this.#isSuspended = false
    this.#signal('SIGCONT')
  }

  #checkDisk(): void {
    const { path } = this.#setup.folder
    if (this.#setup.freeBytes(path) >= LEAST_DISK_BYTES) return
    const message = `no space is left for the output of the agent in ${path}`
    this.#fail('storage_failed', new MainstemError('storage_failed', message))
  }

  #release({ stdout, stderr }: OutputPosition): void {
    this.outputs[0].release(stdout)
    this.outputs[1].release(stderr)
    if (this.#isSuspended) this.#limit()
  }

  async #leave(): Promise<void> {
    clearInterval(this.#poll)
    this.#watcher?.close()
    this.#resume()
    for (const output of this.outputs) output.leave()
    await this.#input?.close()
    this.#child?.unref()
  }

  /** Signals the process group of the launcher. Returns false if it is gone. */
  #signal(signal: NodeJS.Signals): boolean {
    const launcher = this.#launcher
    if (!launcher || this.#setup.table.startOf(launcher.pid) !== launcher.started) return false
    try {
      process.kill(-launcher.pid, signal)
      return true
    } catch (thrown) {
      if (codeOf(thrown) === 'ESRCH') return false
      throw thrown
    }
  }
}

/** Whether a run of an earlier process has a FIFO as its input. */
export function hasOpenInput(folder: SpoolFolder): boolean {
  return statSync(folder.file('in'), { throwIfNoEntry: false })?.isFIFO() ?? false
}
