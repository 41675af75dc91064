import * as z from 'zod'
import type { Dialect, DialectOptions } from '../../dialects/dialect.ts'
import { unified } from '../../dialects/unified.ts'
import { MainstemError } from '../../model/index.ts'

/** The query parameter of subscribers that accept only the types of their protocol's document. */
export const Extensions = z
  .literal('0')
  .optional()
  .describe('`0`: omit message types that the document of the unified protocol does not have')

/** The dialect options for this parameter. Other dialects have only documented types. */
export function extensionOptions(dialect: Dialect, extensions: z.infer<typeof Extensions>): DialectOptions {
  if (extensions === undefined) return {}
  if (dialect === unified) return { extensions }
  const message = `extensions: only applies to the unified dialect, not to ${dialect.id}`
  throw new MainstemError('invalid_request', message, { field: 'extensions' })
}
