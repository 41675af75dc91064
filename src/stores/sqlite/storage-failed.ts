import { MainstemError } from '../../model/mainstem-error.ts'

/** A failure of the disk or of SQLite as ours; what is ours already stays as it is. */
export function storageFailed(doing: string, thrown: unknown): MainstemError {
  if (thrown instanceof MainstemError) return thrown
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  const code: unknown = thrown instanceof Error && 'errcode' in thrown ? thrown.errcode : undefined
  const details = code === undefined ? undefined : { sqlite: code }
  return new MainstemError('storage_failed', `${doing}: ${reason}`, details, { cause: thrown })
}
