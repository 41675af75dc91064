import { z } from 'zod'
import { MainstemError, ModelName } from '../../model/index.ts'
import { underCeiling } from '../ceiling.ts'
import { ready } from '../commands.ts'
import { owned } from '../owned.ts'
import { type Method, method, OfSession, paramsWith, type Rpc, sessionId } from './method.ts'
import { inMode, Mode } from './modes.ts'

const ToMode = paramsWith({ sessionId, mode: Mode })
const ToModel = z.strictObject({ sessionId, model: ModelName.nullable() })

/** What is said to a session besides messages. */
export function controlMethods({ parts }: Rpc): Record<string, Method> {
  return {
    // Stopping is allowed to a server that stops, so nothing is opened for it.
    'session.interrupt': method(OfSession, async ({ sessionId: id }, principal) => {
      await owned(parts, principal, id)
      const interrupted = (await parts.sessions.get(id)?.interruptAll()) ?? false
      return { ok: true, interrupted }
    }),
    'session.set_mode': method(ToMode, async ({ sessionId: id, mode }, principal) => {
      const session = await ready(parts, principal, id)
      const { policy } = await owned(parts, principal, id)
      await session.change({ type: 'set_policy', policy: underCeiling(inMode(policy, mode), parts.ceiling) })
      return { ok: true }
    }),
    'session.set_model': method(ToModel, async ({ sessionId: id, model }, principal) => {
      const session = await ready(parts, principal, id)
      if (model !== null) await session.change({ type: 'set_model', model })
      else if ((await owned(parts, principal, id)).options.model !== undefined) throw chosenAlready()
      return { ok: true }
    }),
  }
}

/** `null` asks for the agent's own choice, which is what it has as long as nobody made another. */
function chosenAlready(): MainstemError {
  return new MainstemError('unsupported_option', 'model: another was chosen; name the one to go on with', {
    field: 'model',
  })
}
