import * as z from 'zod'
import type { Actor } from '../../model/access.ts'
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
import { workingDirectoryOf } from './working-directory.ts'

/** The default agent, for clients that name none. */
const USUAL_AGENT = 'claude'

const Create = paramsWith({
  path: z.string().min(1).max(4096),
  mode: Mode.default('auto'),
  model: ModelName.optional(),
  cli_type: z.string().regex(OUTSIDE_ID, 'not an agent id').default(USUAL_AGENT),
})

const Resume = paramsWith({ sessionId, sdkSessionId: NativeSessionId.optional() })

/** Methods that create, list, resume and destroy sessions. */
export function sessionMethods({ deps, clients }: Rpc): Record<string, Method> {
  return {
    'session.create': method(Create, async ({ path, mode, model, cli_type }, principal, { actor }) => {
      checkReady(deps)
      const cwd = await workingDirectoryOf(deps, path)
      const options = model === undefined ? {} : { options: { model } }
      const session = await inMode(deps.policy, mode, async (asked) => {
        const policy = underCeiling(asked, deps.ceiling)
        return deps.cluster.create({ agent: cli_type, principal, cwd, policy, ...options }, undefined, {
          actor,
        })
      })
      return { sessionId: session.id }
    }),
    'session.list': method(z.strictObject({}), async (_, principal) => {
      const sessions: Listed[] = []
      for await (const record of liveRecords(deps, principal)) sessions.push(listed(record))
      return { sessions }
    }),
    'session.resume': method(Resume, ({ sessionId, sdkSessionId }, _, { actor }) =>
      resume(deps, actor, sessionId, sdkSessionId),
    ),
    'session.destroy': method(OfSession, async ({ sessionId: id }, principal, { actor }) => {
      const { status } = await ownedSession(deps, principal, id)
      if (status !== 'ended') await deps.cluster.end(id, { actor })
      clients.forget(id)
      return { ok: true }
    }),
  }
}

/** `fallback` means that the agent has no conversation to resume, so the next message starts a new one. */
async function resume(deps: GatewayDeps, actor: Actor, id: string, wanted: string | undefined) {
  const { principal } = actor
  const session = await ready(deps, principal, id)
  const { nativeSessionId: known, idle } = await session.describe()
  // An agent without native conversations is identified by the session id.
  if (wanted !== undefined && wanted !== known && wanted !== id) {
    await checkResume(deps, principal, wanted, 'sdkSessionId')
    try {
      await session.adopt(wanted, { actor })
    } catch (thrown) {
      if (toMainstemError(thrown).code !== 'unsupported_option') throw thrown
      return { ok: true, fallback: true }
    }
    return { ok: true, fallback: false }
  }
  const { status } = await ownedSession(deps, principal, id)
  return { ok: true, fallback: known === undefined && !idle && status !== 'busy' }
}
