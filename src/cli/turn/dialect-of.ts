import type { Dialect } from '../../dialects/dialect.ts'

export interface DialectFlags {
  json?: boolean
  dialect?: string
}

/** The dialect that a command prints, loaded only if it prints one; undefined if it prints for people. */
export async function dialectOf({ json, dialect }: DialectFlags): Promise<Dialect | undefined> {
  if (json || dialect === 'mainstem') return (await import('../../dialects/mainstem.ts')).mainstem
  if (dialect === undefined) return undefined
  return (await import('../../dialects/index.ts')).dialects.get(dialect)
}
