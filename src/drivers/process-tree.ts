import type { RunGroups } from './cgroup.ts'
import { FOLDER_MARKER, RUN_MARKER } from './environment.ts'
import { type ProcessInfo, type ProcessTable, withDescendants } from './process-table.ts'
import type { Tree } from './terminate.ts'
import { ToolTree } from './tool-tree.ts'

/**
 * Every process of a run: the session of its first process, whatever carries the run marker or is in the run's
 * group, and all descendants of these. A process stays known once it was seen, however it is moved or renamed.
 * Where the system has no groups for us, one that left the session, cleared its environment *and* lost its parent
 * before anybody looked cannot be found.
 */
export class ProcessTree implements Tree {
  readonly #table: ProcessTable
  readonly #runIds: readonly string[]
  readonly #markers: ReadonlySet<string>
  readonly #groups: RunGroups | undefined
  readonly #root: { pid: number; started: string | undefined } | undefined
  #known = new Map<number, string>()

  /** Without a first process, as after a crash of ours, the markers alone tell: the run ids and temporary folders. */
  constructor(
    table: ProcessTable,
    runIds: readonly string[],
    rootPid?: number,
    groups?: RunGroups,
    folders: readonly string[] = [],
  ) {
    this.#table = table
    this.#runIds = runIds
    this.#groups = groups
    const marked = runIds.map((runId) => `${RUN_MARKER}=${runId}`)
    this.#markers = new Set([...marked, ...folders.map((folder) => `${FOLDER_MARKER}=${folder}`)])
    this.#root = rootPid === undefined ? undefined : { pid: rootPid, started: table.startOf(rootPid) }
  }

  /** Those that are alive now. */
  async look(): Promise<readonly ProcessInfo[]> {
    const marked = new Set<number>()
    const all = await this.#table.list(this.#markers, (pid) => marked.add(pid))
    const session = this.#session(all)
    const grouped = this.#groups?.members(this.#runIds)
    const found = all.filter(
      (process) =>
        marked.has(process.pid) ||
        grouped?.has(process.pid) ||
        process.session === session ||
        this.#known.get(process.pid) === process.started,
    )
    const tree = withDescendants(found, all).filter(({ pid }) => pid !== process.pid)
    this.#known = new Map(tree.map(({ pid, started }) => [pid, started]))
    return tree
  }

  /** The programs that were started between two moments and left the session of the first process. */
  tools(since: number, until: number): Tree {
    return new ToolTree(this, this.#root?.pid, since, until)
  }

  /** Signals each of them once, after another look at its start time: a reused pid is never hit. */
  signal(members: readonly ProcessInfo[], signal: NodeJS.Signals): void {
    for (const member of members) {
      if (this.#table.startOf(member.pid) !== member.started) continue
      // The group as a whole leaves a program that forks all the time no moment to escape.
      if (signal === 'SIGKILL' && member.group === this.#root?.pid) kill(-member.group, signal)
      kill(member.pid, signal)
    }
  }

  /** The first process leads a session; if its pid was reused, that session is somebody else's. */
  #session(all: readonly ProcessInfo[]): number | undefined {
    const root = this.#root
    const reused = all.some(({ pid, started }) => pid === root?.pid && started !== root.started)
    return reused ? undefined : root?.pid
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (thrown) {
    // Gone in the meantime, or not ours to end: the next look tells which.
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
    if (code !== 'ESRCH' && code !== 'EPERM') throw thrown
  }
}
