import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ownedRun } from './environment.ts'

/** Groups of processes that nobody leaves, one for each run. */
export interface RunGroups {
  /** Puts a process, and with it all that it starts from then on, into the group of a run. */
  enter(runId: string, pid: number): Promise<void>
  /** Those that are alive in the groups of these runs. */
  members(runIds: readonly string[]): ReadonlySet<number>
  /** The runs of an owner that have a group. */
  runsOf(owner: string): readonly string[]
  /** Takes the groups of these runs away, but for those in which somebody is still alive. */
  remove(runIds: readonly string[]): void
}

const PREFIX = 'mainstem-'

/** Makes groups below a folder of the system's tree of groups. */
export function cgroupsBelow(root: string): RunGroups {
  const folder = (runId: string) => join(root, `${PREFIX}${runId}`)
  return {
    async enter(runId, pid) {
      // At once, so that whoever removes the group finds it.
      quietly(() => mkdirSync(folder(runId)))
      // Moving a process takes the system ten milliseconds and more, for which nobody else is to wait.
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

/** A group is one mark among others: where the system refuses, the others have to do. */
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

/** What the system says about groups, as text. */
export interface CgroupFacts {
  mounts: string
  own: string
  uid: number
  ownerOf(folder: string): number | undefined
}

/**
 * The folder that is ours to make groups in. The tree has a single writer, so it must have been handed to us: it
 * belongs to this user, who is not root, or it is the top of a namespace of our own, as in a container.
 */
export function delegatedRoot({ mounts, own, uid, ownerOf }: CgroupFacts): string | undefined {
  const mount = /^\S+ (\S+) cgroup2 \S*\brw\b/m.exec(mounts)?.[1]
  const path = /^0::(\/.*)$/m.exec(own)?.[1]
  if (mount === undefined || path === undefined) return undefined
  const root = join(mount, path)
  if (ownerOf(root) !== uid) return undefined
  return uid !== 0 || path === '/' ? root : undefined
}

/** Nothing where this system has no groups for us. */
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
