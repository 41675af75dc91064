import { MainstemError, type SessionRecord } from '../../model/index.ts'
import type { Claim } from '../../sessions/claim.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Call } from './endpoint.ts'
import { type InFlight, keyFrom } from './idempotency.ts'

/** A command to a session, and what it is answered with. */
export interface Keyed<A> {
  session: string
  /** What a repetition is answered with. */
  answer(record: SessionRecord): A
  run(claim: Claim | undefined): Promise<A>
}

/**
 * Does what is asked for. With an `Idempotency-Key` it is done once: whoever sends the same again gets the first
 * answer, one that comes too early is told so, and another body under the same key is refused.
 */
export async function idempotent<A>(
  { sessions }: Pick<GatewayDeps, 'sessions'>,
  inFlight: InFlight,
  { request, reply, principal, params, body }: Call<object, unknown, unknown>,
  { session, answer, run }: Keyed<A>,
): Promise<A> {
  const scope = `${principal} ${request.method} ${pathOf(params, request.routeOptions.url)}`
  const key = keyFrom(request.headers['idempotency-key'], scope, body ?? {})
  if (!key) return run(undefined)
  const leave = inFlight.enter(key)
  try {
    const before = await sessions.receipt(key)
    if (before) {
      reply.header('idempotent-replayed', 'true')
      return before.answer as A
    }
    const claim = { ...key, answer }
    await run(claim)
    // What found nothing to do has committed nothing, and is remembered all the same.
    if (!(await sessions.receipt(key))) await sessions.remember(session, claim)
    const kept = await sessions.receipt(key)
    if (!kept) throw new MainstemError('session_not_found', 'the session was removed')
    return kept.answer as A
  } finally {
    leave()
  }
}

/** As the route spells it: there is more than one way to write the same path. */
function pathOf(params: object, route = ''): string {
  const values = new Map<string, unknown>(Object.entries(params))
  return route.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values.get(name))))
}
