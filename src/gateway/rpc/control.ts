import * as z from 'zod'
import { type Applied, ModelName } from '../../model/index.ts'
import { underCeiling } from '../access/ceiling.ts'
import { ownedSession } from '../access/session-access.ts'
import { ready } from '../v1/commands.ts'
import { type Method, method, OfSession, paramsWith, type Rpc, sessionId } from './method.ts'
import { inMode, Mode } from './modes.ts'

const ToMode = paramsWith({ sessionId, mode: Mode })
const ToModel = z.strictObject({ sessionId, model: ModelName.nullable() })

/** Control methods of a session: interrupt, model and mode. */
export function controlMethods({ deps }: Rpc): Record<string, Method> {
  return {
    // A stopping server allows interrupts, so no session is opened for one.
    'session.interrupt': method(OfSession, async ({ sessionId: id }, principal, { actor }) => {
      await ownedSession(deps, principal, id)
      const interrupted = (await (await deps.cluster.running(id))?.interruptAll({ actor })) ?? false
      return { ok: true, interrupted }
    }),
    'session.set_mode': method(ToMode, async ({ sessionId: id, mode }, principal, { actor }) => {
      const session = await ready(deps, principal, id)
      const { policy } = await ownedSession(deps, principal, id)
      const applied = await inMode(policy, mode, async (asked) =>
        session.change({ type: 'set_policy', policy: underCeiling(asked, deps.ceiling) }, { actor }),
      )
      return okFrom(applied)
    }),
    'session.set_model': method(ToModel, async ({ sessionId: id, model }, principal, { actor }) => {
      const session = await ready(deps, principal, id)
      const { options } = await ownedSession(deps, principal, id)
      // The default model is already in use; this also holds for agents without a choice of models.
      if (model === null && options.model === undefined) return { ok: true }
      return okFrom(await session.change({ type: 'set_model', model }, { actor }))
    }),
  }
}

/** Clients of this API expect `ok`; a change that waits for the end of the turn adds `applied`. */
function okFrom(applied: Applied): object {
  return { ok: true, ...(applied !== 'now' && { applied }) }
}
