import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { constants as system } from 'node:os'
import { join } from 'node:path'
import { MainstemError } from '../../model/index.ts'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import type { RunExit } from '../driver.ts'
import { bootId } from '../tree/boot-id.ts'
import { ABANDONED } from '../tree/orphan-guard.ts'
import type { ProcessIdentity, ProcessTable } from '../tree/process-table.ts'

/** What a later process needs to find a run again. */
interface RunFacts {
  /** The temporary directory of the agent. */
  temporary: string
  /** The journal frame of its start. */
  frame: number
  /** The start of the system in which it was prepared; absent where it has no name. */
  boot?: string | undefined
  /** The inodes of the outputs, so that files which replaced them are not read. */
  outputs: Readonly<Record<SpoolOutput, number>>
}

export const SPOOL_FILES = { stdout: 'out', stderr: 'err' } as const

export type SpoolOutput = keyof typeof SPOOL_FILES

/** The files of one run that outlives its starter: input, outputs, pid, exit code, and what was written to it. */
export class SpoolFolder {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  static of(root: string, runId: string): SpoolFolder {
    return new SpoolFolder(join(root, encodeURIComponent(runId)))
  }

  /** Creates the folder with empty outputs, readable by their owner only. */
  create(temporary: string, frame: number): void {
    this.remove()
    mkdirSync(this.path, { recursive: true, mode: 0o700 })
    const outputs = { stdout: this.#createOutput('stdout'), stderr: this.#createOutput('stderr') }
    const facts: RunFacts = { temporary, frame, boot: bootId(), outputs }
    writeFileSync(this.file('run.json'), `${JSON.stringify(facts)}\n`, { mode: 0o600, flag: 'wx' })
  }

  file(name: string): string {
    return join(this.path, name)
  }

  /** The temporary directory of the agent; undefined if the folder was never complete. */
  get temporary(): string | undefined {
    return this.#facts?.temporary
  }

  /** The journal frame of its start; undefined if the folder was never complete. */
  get frame(): number | undefined {
    return this.#facts?.frame
  }

  /** When the run was prepared, and when it wrote last. */
  get times(): { startedAt: number; outputAt: number } {
    const at = (name: string) => lstatSync(this.file(name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    return { startedAt: at('run.json'), outputAt: at(SPOOL_FILES.stdout) }
  }

  /** The text of a small file; empty if there is none. */
  read(name: string): string {
    try {
      const flag = constants.O_RDONLY | constants.O_NOFOLLOW
      return readFileSync(this.file(name), { encoding: 'utf8', flag })
    } catch (thrown) {
      if (thrown instanceof Error && 'syscall' in thrown) return ''
      throw thrown
    }
  }

  /** The first process of the run. It writes this before it starts the agent. Undefined if the system was restarted. */
  get launcher(): ProcessIdentity | undefined {
    const [, pid, started] = /^(\d+) +(\S.*?) *\n$/.exec(this.read('pid')) ?? []
    if (started === undefined || this.isOfEarlierBoot) return undefined
    return { pid: Number(pid), started }
  }

  /** The system was restarted since. What was written last before that may be missing. */
  get isOfEarlierBoot(): boolean {
    return this.#facts?.boot !== bootId()
  }

  /**
   * The first process, if it is alive: not one that has its pid now, and not one that only has the same start time in
   * another container.
   */
  livingLauncher(table: ProcessTable, mark: string): ProcessIdentity | undefined {
    const { launcher } = this
    if (!launcher || !table.isAlive(launcher)) return undefined
    return table.marksOf(launcher.pid)?.includes(mark) === false ? undefined : launcher
  }

  /** How the agent ended; undefined while it runs, and if its launcher was killed. */
  get exit(): RunExit | undefined {
    if (lstatSync(this.file(ABANDONED), { throwIfNoEntry: false })) return { unseen: true }
    const [, status] = /^(\d+)\n/.exec(this.read('exit')) ?? []
    return status === undefined ? undefined : exitOf(Number(status))
  }

  /** Opens an output. Throws if it is not the file that this run writes, or if it lacks bytes that were read before. */
  openOutput(stream: SpoolOutput, from: number): number {
    const path = this.file(SPOOL_FILES[stream])
    const opened = this.#open(path)
    const { ino, size } = fstatSync(opened)
    const problem = ino === this.#facts?.outputs[stream] ? problemAt(opened, from, size) : 'was replaced'
    if (problem === undefined) return opened
    closeSync(opened)
    throw damaged(`the output of the agent in ${path} ${problem}`)
  }

  /** Throws if another user could have written to the folder. */
  check(): void {
    const found = lstatSync(this.path, { throwIfNoEntry: false })
    const isPrivate = found?.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0
    if (!isPrivate || !this.#facts) throw damaged(`${this.path} is not the private folder of a run`)
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 2 })
  }

  /** Undefined for a folder whose creation was cut off. */
  get #facts(): RunFacts | undefined {
    const text = this.read('run.json')
    return text.endsWith('\n') ? JSON.parse(text) : undefined
  }

  #createOutput(stream: SpoolOutput): number {
    const opened = openSync(this.file(SPOOL_FILES[stream]), 'ax', 0o600)
    try {
      return fstatSync(opened).ino
    } finally {
      closeSync(opened)
    }
  }

  #open(path: string): number {
    try {
      return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      throw damaged(`the output of the agent cannot be read: ${why}`)
    }
  }
}

/** The end of a line, and what the system returns for space that was given back. */
const ENDS: readonly (number | undefined)[] = [0x0a, 0]

/** Why a file of this size is not the one whose lines were read up to `from`; undefined if it may be. */
function problemAt(opened: number, from: number, size: number): string | undefined {
  if (size < from) return `has ${size} bytes, and ${from} were read before`
  if (from === 0 || size === from) return undefined
  const [last] = readAt(opened, from - 1)
  // It was cut short and has grown again.
  return ENDS.includes(last) ? undefined : `has no line that ends at byte ${from}, up to which it was read`
}

function readAt(opened: number, position: number): Uint8Array {
  const byte = new Uint8Array(1)
  readSync(opened, byte, 0, 1, position)
  return byte
}

function damaged(message: string): MainstemError {
  return new MainstemError('storage_failed', message)
}

/** The runs that have a folder. */
export function spooledRuns(root: string): string[] {
  try {
    return readdirSync(root).map(decodeURIComponent)
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return []
    throw thrown
  }
}

const SIGNALS: ReadonlyMap<number, string> = new Map(
  Object.entries(system.signals).map(([name, number]) => [number, name]),
)

/** A shell reports a program that a signal ended as 128 and the signal. */
function exitOf(status: number): RunExit {
  const signal = status > 128 ? SIGNALS.get(status - 128) : undefined
  return signal === undefined ? { code: status } : { signal }
}
