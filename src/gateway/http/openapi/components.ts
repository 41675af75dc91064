import * as z from 'zod'
import { Entry, Policy, SessionOptions, SessionRecord, Usage } from '../../../model/index.ts'

/** The schemas with a name in the API reference. */
export const components = z.registry<{ id: string }>()

export function named<T extends z.ZodType>(id: string, schema: T): T {
  components.add(schema, { id })
  return schema
}

named('Entry', Entry)
named('Policy', Policy)
named('SessionOptions', SessionOptions)
named('SessionRecord', SessionRecord)
named('Usage', Usage)
