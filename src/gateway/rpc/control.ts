import { ModelName } from '../../model/index.ts'
import { underCeiling } from '../ceiling.ts'
import { ready } from '../commands.ts'
import { owned } from '../owned.ts'
import { type Method, method, OfSession, type Rpc } from './method.ts'
import { inMode, Mode } from './modes.ts'

const ToMode = OfSession.extend({ mode: Mode })
const ToModel = OfSession.extend({ model: ModelName })

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
      await session.change({ type: 'set_model', model })
      return { ok: true }
    }),
  }
}
