import { MainstemError, toMainstemError } from '../../model/index.ts'
import type { AnswerForm } from '../../sessions/claim.ts'
import type { CommandContext } from '../../sessions/command-context.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Call } from './endpoint.ts'
import { keyFrom } from './idempotency.ts'

/** A command to a session, and its response. */
export interface Keyed<A> {
  session: string
  /** The response to a repeated request. */
  answer: AnswerForm
  run(context: CommandContext): Promise<A>
}

/**
 * Runs a command. With an `Idempotency-Key` it runs once: a repeated request gets the first response, also while the
 * first one is running, and a different body under the same key is rejected.
 */
export async function idempotent<A>(
  { sessions, cluster }: Pick<GatewayDeps, 'sessions' | 'cluster'>,
  { request, reply, principal, actor, params, body }: Call<object, unknown, unknown>,
  { session, answer, run }: Keyed<A>,
): Promise<A> {
  const header = request.headers['idempotency-key']
  if (header === undefined) return run({ actor })
  const scope = `${principal} ${request.method} ${pathOf(params, request.routeOptions.url)}`
  const key = keyFrom(header, scope, body ?? {})
  const flight = await sessions.receipts.inFlight.enter(key)
  try {
    const before = await sessions.receipts.find(key)
    if (before) {
      reply.header('idempotent-replayed', 'true')
      return before.answer as A
    }
    const claims = [{ ...key, answer }]
    await run({ claims, actor }).catch(async (thrown: unknown) => {
      // Another node ran an equal request meanwhile, which this one joins.
      if (toMainstemError(thrown).code !== 'conflict' || !(await sessions.receipts.find(key))) throw thrown
    })
    // Another node may have committed the command.
    let kept = flight.receipt ?? (await sessions.receipts.find(key))
    if (!kept) {
      // A command without an effect has committed nothing, but its key must be stored too.
      await cluster.remember(session, { claims })
      kept = flight.receipt ?? (await sessions.receipts.find(key))
    }
    if (!kept) throw new MainstemError('session_not_found', 'the session was removed')
    return kept.answer as A
  } finally {
    flight.leave()
  }
}

/** Builds the path from the route, because the same path can be written in several ways. */
function pathOf(params: object, route = ''): string {
  const values = new Map<string, unknown>(Object.entries(params))
  return route.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values.get(name))))
}
