import type { Evidence } from './evidence.ts'
import type { Findings } from './findings.ts'
import { turnsOf } from './turns.ts'

/** A confirmed interrupt means that the turn its client saw running has its terminal event. */
export function checkInterrupts({ logs, clients }: Evidence, found: Findings): void {
  for (const { session, turn, head } of clients.interrupts) {
    const entries = logs.get(session)
    if (!entries) continue
    const ended = turnsOf(entries).get(turn)?.endedAt
    if (ended === undefined || ended > head)
      found.add(
        'interrupt',
        `${session} turn ${turn} was confirmed at ${head} and ended at ${ended ?? 'no time'}`,
      )
  }
}
