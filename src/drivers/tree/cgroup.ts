import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ownedRun } from '../process/environment.ts'

/** One control group per run. Its processes cannot leave it. */
export interface RunGroups {
  /** Adds a process to the group of a run. Children that it starts afterwards join the group too. */
  enter(runId: string, pid: number): Promise<void>
  /** Returns the live processes in the groups of these runs. */
  members(runIds: readonly string[]): ReadonlySet<number>
  /** The runs of an owner that have a group. */
  runsOf(owner: string): readonly string[]
  /** Removes the groups of these runs, except groups that still have live processes. */
  remove(runIds: readonly string[]): void
}

const PREFIX = 'mainstem-'

/** Creates groups below a directory of the cgroup hierarchy. */
export function cgroupsBelow(root: string): RunGroups {
  const folder = (runId: string) => join(root, `${PREFIX}${runId}`)
  return {
    async enter(runId, pid) {
      // Synchronous, so that a concurrent `remove` finds the group.
      quietly(() => mkdirSync(folder(runId)))
      // Asynchronous, because the kernel takes ten milliseconds or more to move a process.
      await writeFile(join(folder(runId), 'cgroup.procs'), String(pid)).catch(unlessRefused)
    },
    members(runIds) {
      const lines = runIds.flatMap((runId) => processesIn(folder(runId)))
      return new Set(lines.filter((line) => line !== '').map(Number))
    },
    runsOf(owner) {
      const names = quietly(() => readdirSync(root)) ?? []
      const owned = PREFIX + ownedRun(owner, '')
      return names.filter((name) => name.startsWith(owned)).map((name) => name.slice(PREFIX.length))
    },
    remove(runIds) {
      for (const runId of runIds) quietly(() => rmdirSync(folder(runId)))
    },
  }
}

function processesIn(folder: string): string[] {
  return quietly(() => readFileSync(join(folder, 'cgroup.procs'), 'latin1').split('\n')) ?? []
}

/** Ignores refusals by the system: a group is only one of several ways to find the processes of a run. */
function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (thrown) {
    return unlessRefused(thrown)
  }
}

function unlessRefused(thrown: unknown): undefined {
  if (!(thrown instanceof Error && 'syscall' in thrown)) throw thrown
}

/** The text that the system reports about control groups. */
export interface CgroupFacts {
  mounts: string
  own: string
  uid: number
  ownerOf(folder: string): number | undefined
}

/**
 * Returns the directory in which this process may create groups. A cgroup directory has a single writer, so it must
 * have been delegated to this process: either a non-root user owns it, or it is the root of this process's cgroup
 * namespace, as in a container.
 */
export function delegatedRoot({ mounts, own, uid, ownerOf }: CgroupFacts): string | undefined {
  const mount = /^\S+ (\S+) cgroup2 \S*\brw\b/m.exec(mounts)?.[1]
  const path = /^0::(\/.*)$/m.exec(own)?.[1]
  if (mount === undefined || path === undefined) return undefined
  const root = join(mount, path)
  if (ownerOf(root) !== uid) return undefined
  return uid !== 0 || path === '/' ? root : undefined
}

/** Returns undefined when no cgroup directory is delegated to this process. */
export function runGroups(): RunGroups | undefined {
  const root = quietly(() =>
    delegatedRoot({
      mounts: readFileSync('/proc/self/mounts', 'utf8'),
      own: readFileSync('/proc/self/cgroup', 'utf8'),
      uid: process.geteuid?.() ?? -1,
      ownerOf: (folder) => quietly(() => statSync(folder).uid),
    }),
  )
  return root === undefined ? undefined : cgroupsBelow(root)
}
