import type { SessionUpdated } from '../../model/events/session.ts'
import type { Emitted } from '../agent.ts'
import { sameValue } from './fields.ts'

/** The properties of a session that were emitted. */
export type KnownFacts = Omit<SessionUpdated, 'type'>

/** Properties that a frame may or may not contain. */
export type ReportedFacts = { [K in keyof KnownFacts]?: KnownFacts[K] | undefined }

/** Emits the properties that changed, so that a repeated handshake emits nothing. */
export function updateSession(state: { known: KnownFacts }, now: ReportedFacts): Emitted[] {
  const changed: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(now)) {
    if (value !== undefined && !sameValue(value, Reflect.get(state.known, key))) changed[key] = value
  }
  if (Object.keys(changed).length === 0) return []
  state.known = { ...state.known, ...changed }
  return [{ type: 'session.updated', ...changed }]
}
