import type { Timers } from './driver.ts'
import type { ProcessInfo } from './process-table.ts'

const LADDER = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const
type StopSignal = (typeof LADDER)[number]

/** How long each signal is given to work. */
export type Graces = Readonly<Record<StopSignal, number>>

/** Ten seconds in all. */
export const GRACES: Graces = { SIGINT: 2_000, SIGTERM: 3_000, SIGKILL: 5_000 }

/** What is to be ended: it may grow while it is looked at. */
export interface Tree {
  look(): Promise<readonly ProcessInfo[]>
  signal(members: readonly ProcessInfo[], signal: NodeJS.Signals): void
}

/** Ends a whole tree, each step bounded, and tells who survived even that. */
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

/** Is the tree gone within the grace? One look is not enough: a process may be forking just then. */
async function ends(tree: Tree, signal: StopSignal, graceMs: number, timers: Timers): Promise<boolean> {
  const done = new AbortController()
  let late = false
  const deadline = timers.sleep(graceMs, done.signal).then(() => {
    late = true
  })
  const told = new Set<string>()
  let emptyLooks = 0
  try {
    for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
      const members = await tree.look()
      emptyLooks = members.length === 0 ? emptyLooks + 1 : 0
      if (emptyLooks === 2) return true
      // Also when it is late: on a busy machine the first look alone can outlast the grace.
      tell(tree, members, signal, told)
      if (late) return false
      await timers.sleep(pauseMs, done.signal)
    }
  } finally {
    done.abort()
    await deadline
  }
}

/** A second SIGINT means something else to many programs, so each process hears a signal once. */
function tell(tree: Tree, members: readonly ProcessInfo[], signal: StopSignal, told: Set<string>): void {
  const untold = members.filter(({ pid, started }) => !told.has(`${pid} ${started}`))
  for (const { pid, started } of untold) told.add(`${pid} ${started}`)
  tree.signal(untold, signal)
  // A stopped process keeps SIGTERM pending until it goes on.
  if (signal === 'SIGTERM') tree.signal(untold, 'SIGCONT')
}
