import { draining } from '../refusals.ts'
import type { SessionParts } from '../session-parts.ts'
import { withTimeout } from '../with-timeout.ts'

/** Longer than all steps of an orderly stop. An agent that survives it must not block the shutdown. */
const SUSPEND_MS = 30_000

/** Stops the agent and keeps the session open: the stored queue is resumed by the next owner. */
export async function suspend({ alarms, deps, interrupts, place, turns }: SessionParts): Promise<void> {
  alarms.disarm('idle', 'continuation')
  turns.leaveQueue()
  const stopped = interrupts.interrupt('drain').then(() => place.close())
  try {
    await withTimeout(deps.timers, SUSPEND_MS, stopped)
  } finally {
    // Callers that wait for queued turns would otherwise never settle.
    turns.fail(draining())
  }
}

/**
 * Leaves the process of a session to the next owner. What is decoded and decided so far is committed; everything else
 * is in the files of the process, and the journal says which writes it does not have yet.
 */
export async function detach(parts: SessionParts): Promise<void> {
  const { agent, alarms, answering, deps, log, place, turns } = parts
  alarms.disarmAll()
  turns.detach()
  await log.commit()
  await agent.detach()
  await log.commit()
  await log.abandon(draining())
  // A hook that is deciding is asked again by the next owner.
  await answering.stop()
  turns.fail(draining())
  deps.pool.leave(place)
}
