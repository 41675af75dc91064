import type { IdempotencyKey } from '../../sessions/claim.ts'
import type { NewSession } from '../../sessions/deps.ts'
import type { GatewayDeps } from '../deps.ts'
import type { InFlight } from '../http/idempotency.ts'
import { trackTurn } from './commands.ts'

/** Creates a session with its first turn, once per key. A repeated request that is still in flight is rejected. */
export async function beginSession(
  deps: GatewayDeps,
  inFlight: InFlight,
  once: IdempotencyKey | undefined,
  wanted: () => Promise<NewSession>,
  prompt: string | undefined,
): Promise<{ id: string; replayed: boolean }> {
  const leave = once && inFlight.enter(once)
  try {
    const request = await wanted()
    const { id, session } = once
      ? await deps.sessions.createOnce(once, request, prompt)
      : await deps.sessions.create(request, prompt).then((session) => ({ id: session.id, session }))
    if (session && prompt !== undefined) trackTurn(deps, session, 1)
    return { id, replayed: session === undefined }
  } finally {
    leave?.()
  }
}
