import { codeOf } from '../../model/outcome/mainstem-error.ts'
import { FOLDER_MARKER, ownedRun, RUN_MARKER } from '../process/environment.ts'
import type { Tree } from '../process/terminate.ts'
import type { RunGroups } from './cgroup.ts'
import {
  type ProcessIdentity,
  type ProcessInfo,
  type ProcessTable,
  withDescendants,
} from './process-table.ts'
import { ToolTree } from './tool-tree.ts'

/** Marks of processes that an earlier process of ours left behind. */
export interface Abandoned {
  /** Every run of this owner is over. */
  owner?: string | undefined
  /** Runs of this owner that are not over after all. */
  except?: readonly string[]
  /** Temporary folders of runs that are over. */
  folders?: readonly string[]
  /** First processes of runs that are over, for systems that do not report marks. Each must be alive. */
  roots?: readonly ProcessIdentity[]
}

/**
 * All processes of a run: the session of its first process, every process that carries the run marker or is in the
 * run's group, and all their descendants. A process stays in the tree once it was found. Without control groups, a
 * process that left the session, cleared its environment *and* lost its parent before a scan cannot be found.
 */
export class ProcessTree implements Tree {
  readonly #table: ProcessTable
  readonly #runIds: readonly string[]
  readonly #isMark: (variable: string) => boolean
  readonly #groups: RunGroups | undefined
  readonly #roots: readonly { pid: number; started: string | undefined }[]
  /** Nothing older than the first process inherited its mark. Zero where start times cannot be compared. */
  readonly #since: number
  #known = new Map<number, string>()

  /** Without a first process, as after a crash of ours, processes are found by their marks and groups alone. */
  constructor(
    table: ProcessTable,
    runIds: readonly string[],
    rootPid?: number,
    groups?: RunGroups,
    { owner, except = [], folders = [], roots = [] }: Abandoned = {},
  ) {
    this.#table = table
    this.#runIds = runIds
    this.#groups = groups
    const marked = runIds.map((runId) => `${RUN_MARKER}=${runId}`)
    const marks = new Set([...marked, ...folders.map((folder) => `${FOLDER_MARKER}=${folder}`)])
    const owned = owner === undefined ? undefined : `${RUN_MARKER}=${ownedRun(owner, '')}`
    const spared = new Set(except.map((runId) => `${RUN_MARKER}=${runId}`))
    this.#isMark = (variable) =>
      marks.has(variable) || (owned !== undefined && variable.startsWith(owned) && !spared.has(variable))
    const root = rootPid === undefined ? undefined : { pid: rootPid, started: table.startOf(rootPid) }
    this.#roots = root ? [root] : roots
    this.#since = Number(root?.started) || 0
  }

  /** Scans for the live processes of the tree. */
  async look(): Promise<readonly ProcessInfo[]> {
    const { processes: all, marks } = await this.#table.scan(this.#since)
    const sessions = this.#sessions(all)
    const grouped = this.#groups?.members(this.#runIds)
    const found = all.filter(
      (process) =>
        marks.get(process.pid)?.some(this.#isMark) ||
        grouped?.has(process.pid) ||
        sessions.has(process.session) ||
        this.#known.get(process.pid) === process.started,
    )
    const tree = withDescendants(found, all).filter(({ pid }) => pid !== process.pid)
    this.#known = new Map(tree.map(({ pid, started }) => [pid, started]))
    return tree
  }

  /** Returns the programs that were started between two moments and left the session of the first process. */
  tools(since: number, until: number): Tree {
    return new ToolTree(this, this.#roots[0]?.pid, since, until)
  }

  /** Signals each process once, after checking its start time again, so that a reused pid is never signalled. */
  signal(members: readonly ProcessInfo[], signal: NodeJS.Signals): void {
    for (const member of members) {
      if (this.#table.startOf(member.pid) !== member.started) continue
      // Signals the whole group, because a program that forks continuously would escape single signals.
      if (signal === 'SIGKILL' && this.#roots.some(({ pid }) => pid === member.group))
        kill(-member.group, signal)
      kill(member.pid, signal)
    }
  }

  /** A first process leads a session; if its pid was reused, the session belongs to another process. */
  #sessions(all: readonly ProcessInfo[]): ReadonlySet<number> {
    const isReused = (root: { pid: number; started: string | undefined }) =>
      all.some(({ pid, started }) => pid === root.pid && started !== root.started)
    return new Set(this.#roots.filter((root) => !isReused(root)).map(({ pid }) => pid))
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (thrown) {
    // The process exited meanwhile or may not be signalled; the next scan shows which.
    const code = codeOf(thrown)
    if (code !== 'ESRCH' && code !== 'EPERM') throw thrown
  }
}
