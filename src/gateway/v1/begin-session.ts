import type { NewSession } from '../../model/session/new-session.ts'
import type { IdempotencyKey } from '../../sessions/claim.ts'
import type { CommandContext } from '../../sessions/command-context.ts'
import type { GatewayDeps } from '../deps.ts'
import { checkReady } from '../http/health.ts'

/**
 * Creates a session with its first turn, once per key. A repeated request waits for the first one. A server that
 * is stopping creates nothing, but answers repeated requests.
 */
export async function beginSession(
  deps: GatewayDeps,
  once: IdempotencyKey | undefined,
  wanted: () => Promise<NewSession>,
  prompt: string | undefined,
  context: CommandContext,
): Promise<{ id: string; replayed: boolean }> {
  const flight = once && (await deps.sessions.receipts.inFlight.enter(once))
  const request = async () => {
    checkReady(deps)
    return wanted()
  }
  try {
    const { id, session } = once
      ? await deps.cluster.createOnce(once, request, prompt, context)
      : await deps.cluster
          .create(await request(), prompt, context)
          .then((session) => ({ id: session.id, session }))
    if (session && prompt !== undefined) deps.cluster.track(session, 1)
    return { id, replayed: session === undefined }
  } finally {
    flight?.leave()
  }
}
