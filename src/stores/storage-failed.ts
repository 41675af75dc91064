import { MainstemError } from '../model/outcome/mainstem-error.ts'

/** Converts a failure of the disk or the database to a `MainstemError`; returns a `MainstemError` unchanged. */
export function storageFailed(doing: string, thrown: unknown): MainstemError {
  if (thrown instanceof MainstemError) return thrown
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return new MainstemError('storage_failed', `${doing}: ${reason}`, codeOf(thrown), { cause: thrown })
}

/** SQLite numbers its errors; PostgreSQL has a code of five characters and a severity. */
function codeOf(thrown: unknown): Record<string, unknown> | undefined {
  if (!(thrown instanceof Error)) return undefined
  if ('errcode' in thrown) return { sqlite: thrown.errcode }
  return 'severity' in thrown && 'code' in thrown ? { postgres: thrown.code } : undefined
}
