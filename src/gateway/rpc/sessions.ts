import { z } from 'zod'
import { ModelName, NativeSessionId, OUTSIDE_ID, toMainstemError } from '../../model/index.ts'
import { underCeiling } from '../access/ceiling.ts'
import { ownedSession } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { checkReady } from '../http/health.ts'
import { ready } from '../v1/commands.ts'
import { checkResume } from '../v1/new-session.ts'
import { type Listed, listed, liveRecords } from './listing.ts'
import { type Method, method, OfSession, paramsWith, type Rpc, sessionId } from './method.ts'
import { inMode, Mode } from './modes.ts'
import { placeOf } from './positions.ts'

/** Clients that name no agent were written for this one. */
const USUAL_AGENT = 'claude'

const Create = paramsWith({
  path: z.string().min(1).max(4096),
  mode: Mode.default('auto'),
  model: ModelName.optional(),
  cli_type: z.string().regex(OUTSIDE_ID, 'not the id of an agent').default(USUAL_AGENT),
})

const Resume = paramsWith({ sessionId, sdkSessionId: NativeSessionId.optional() })

/** Sessions come, are listed, are taken up again, and go. */
export function sessionMethods({ deps, clients }: Rpc): Record<string, Method> {
  return {
    'session.create': method(Create, async ({ path, mode, model, cli_type }, principal) => {
      checkReady(deps)
      const session = await deps.sessions.create({
        agent: cli_type,
        principal,
        cwd: await placeOf(deps, path),
        policy: underCeiling(inMode(deps.policy, mode), deps.ceiling),
        ...(model !== undefined && { options: { model } }),
      })
      return { sessionId: session.id }
    }),
    'session.list': method(z.strictObject({}), async (_, principal) => {
      const sessions: Listed[] = []
      for await (const record of liveRecords(deps, principal)) sessions.push(listed(record))
      return { sessions }
    }),
    'session.resume': method(Resume, ({ sessionId, sdkSessionId }, principal) =>
      resume(deps, principal, sessionId, sdkSessionId),
    ),
    'session.destroy': method(OfSession, async ({ sessionId: id }, principal) => {
      const { status } = await ownedSession(deps, principal, id)
      if (status !== 'ended') {
        await deps.sessions.open(id)
        await deps.sessions.end(id)
      }
      clients.forget(id)
      return { ok: true }
    }),
  }
}

/** `fallback`: there is no conversation of the agent's own to go on with, so the next message begins a new one. */
async function resume(deps: GatewayDeps, principal: string, id: string, wanted: string | undefined) {
  const session = await ready(deps, principal, id)
  const known = session.nativeSessionId
  // An agent without conversations of its own is told by the id of the session.
  if (wanted !== undefined && wanted !== known && wanted !== id) {
    await checkResume(deps, principal, wanted, 'sdkSessionId')
    try {
      await session.adopt(wanted)
    } catch (thrown) {
      if (toMainstemError(thrown).code !== 'unsupported_option') throw thrown
      return { ok: true, fallback: true }
    }
    return { ok: true, fallback: false }
  }
  const { status } = await ownedSession(deps, principal, id)
  return { ok: true, fallback: known === undefined && !session.idle && status !== 'busy' }
}
