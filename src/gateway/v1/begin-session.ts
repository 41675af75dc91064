import type { IdempotencyKey } from '../../sessions/claim.ts'
import type { NewSession } from '../../sessions/deps.ts'
import type { GatewayDeps } from '../deps.ts'

/** Creates a session with its first turn, once per key. A repeated request that is still in flight is rejected. */
export async function beginSession(
  deps: GatewayDeps,
  once: IdempotencyKey | undefined,
  wanted: () => Promise<NewSession>,
  prompt: string | undefined,
): Promise<{ id: string; replayed: boolean }> {
  const flight = once && deps.sessions.inFlight.enter(once)
  try {
    const request = await wanted()
    const { id, session } = once
      ? await deps.cluster.createOnce(once, request, prompt)
      : await deps.cluster.create(request, prompt).then((session) => ({ id: session.id, session }))
    if (session && prompt !== undefined) deps.cluster.track(session, 1)
    return { id, replayed: session === undefined }
  } finally {
    flight?.leave()
  }
}
