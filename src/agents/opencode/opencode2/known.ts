import { type Fields, fields, text } from '../../kit/fields.ts'
import type { ReportedFacts } from '../../kit/known.ts'
import { modelName } from '../effects.ts'

/** The properties of a session that the server reports. */
export function factsOf(id: string, info: Fields): ReportedFacts {
  return {
    nativeSessionId: id,
    agentVersion: text(info, 'version'),
    title: text(info, 'title'),
    model: modelName(fields(info, 'model')),
    mode: text(info, 'agent'),
  }
}
