import type { Timers } from '../driver.ts'
import type { ProcessInfo } from '../tree/process-table.ts'

const LADDER = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const
type StopSignal = (typeof LADDER)[number]

/** How long each signal may take to work. */
export type Graces = Readonly<Record<StopSignal, number>>

/** Ten seconds in all. */
export const GRACES: Graces = { SIGINT: 2_000, SIGTERM: 3_000, SIGKILL: 5_000 }

/** The processes to terminate; the set may grow between scans. */
export interface Tree {
  look(): Promise<readonly ProcessInfo[]>
  signal(members: readonly ProcessInfo[], signal: NodeJS.Signals): void
}

/** Terminates a whole tree with escalating signals, each with a timeout, and returns the survivors. */
export async function terminate(
  tree: Tree,
  graces: Graces,
  timers: Timers,
  first: StopSignal = 'SIGINT',
): Promise<readonly ProcessInfo[]> {
  for (const signal of LADDER.slice(LADDER.indexOf(first))) {
    if (await ends(tree, signal, graces[signal], timers)) return []
  }
  return tree.look()
}

/**
 * Returns whether the tree ended within the grace period. Scans repeatedly, because a process may be forking during one
 * scan.
 */
async function ends(tree: Tree, signal: StopSignal, graceMs: number, timers: Timers): Promise<boolean> {
  const done = new AbortController()
  let late = false
  const deadline = timers.sleep(graceMs, done.signal).then(() => {
    late = true
  })
  const signalled = new Set<string>()
  let emptyLooks = 0
  try {
    for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
      const members = await tree.look()
      emptyLooks = members.length === 0 ? emptyLooks + 1 : 0
      if (emptyLooks === 2) return true
      // Also when it is late: on a busy machine the first scan alone can outlast the grace period.
      signalOnce(tree, members, signal, signalled)
      if (late) return false
      await timers.sleep(pauseMs, done.signal)
    }
  } finally {
    done.abort()
    await deadline
  }
}

/** Signals each process only once, because many programs treat a second SIGINT differently. */
function signalOnce(
  tree: Tree,
  members: readonly ProcessInfo[],
  signal: StopSignal,
  signalled: Set<string>,
): void {
  const fresh = members.filter(({ pid, started }) => !signalled.has(`${pid} ${started}`))
  for (const { pid, started } of fresh) signalled.add(`${pid} ${started}`)
  tree.signal(fresh, signal)
  // A stopped process keeps SIGTERM pending until it is continued.
  if (signal === 'SIGTERM') tree.signal(fresh, 'SIGCONT')
}
