import type { Timers } from '../drivers/driver.ts'
import type { Retention } from '../sessions/recovery/retention.ts'
import type { Sessions } from '../sessions/sessions.ts'

const HOUR_MS = 3_600_000

interface Pruning {
  timers: Timers
  signal: AbortSignal
  report(thrown: unknown): void
}

/** Applies the retention limits now and every hour, until the signal aborts. */
export async function pruneHourly(
  sessions: Pick<Sessions, 'prune'>,
  retention: Retention,
  { timers, signal, report }: Pruning,
): Promise<void> {
  while (!signal.aborted) {
    await sessions.prune(retention).catch(report)
    await timers.sleep(HOUR_MS, signal)
  }
}
