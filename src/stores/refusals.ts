import type { Entry } from '../model/index.ts'
import { isDamaged } from '../model/outcome/error-table.ts'
import { MainstemError } from '../model/outcome/mainstem-error.ts'
import type { Receipt } from './store.ts'

/** Refuses a gap or a repetition in a log, because it could not be repaired later. */
export function checkContinues(session: string, head: number, entries: readonly Entry[]): void {
  let expected = head
  for (const entry of entries) {
    if (entry.seq !== ++expected) {
      throw new MainstemError(
        'conflict',
        `log ${session} is at ${expected - 1}, entry ${entry.seq} does not follow`,
      )
    }
  }
}

/** Refuses a write with a fence that is not the current one. */
export function checkFence(session: string, current: number, fence: number): void {
  if (fence === current) return
  throw new MainstemError(
    'fenced',
    `the lease of session ${session} was lost: its fence is ${current}, the write has ${fence}`,
  )
}

/** The entries after this cursor were trimmed. Refusing shows the gap. */
export function cursorGone(what: 'entries' | 'frames', earliest: number): MainstemError {
  return new MainstemError('cursor_gone', `${what} before ${earliest} are no longer kept`, { earliest })
}

export function keyTaken({ key }: Receipt): MainstemError {
  return new MainstemError('conflict', `key "${key}" was used before`)
}

/** The refusal of a node name that another live process has. */
export function nameTaken(name: string, leftMs: number): MainstemError {
  const message = `A node named "${name}" is running already. Set another name with node.name in the configuration.`
  return new MainstemError('conflict', message, { retryAfter: Math.max(1, Math.ceil(leftMs / 1000)) })
}

/** The refusal to wait for entries of a closed store: there would never be any. */
export function storeClosed(): MainstemError {
  return new MainstemError('storage_failed', 'the store is closed')
}

export function sessionNotFound(session: string): MainstemError {
  return new MainstemError('session_not_found', `there is no session ${session}`)
}

/** The refusal of a search where no index is kept. */
export function searchOff(): MainstemError {
  return new MainstemError('unsupported_option', 'this server keeps no search index', {
    advice:
      'Set "search" to "on" in the configuration and start the server again; the logs are then indexed.',
  })
}

/** Where damage was found; `first` and `last` are the entries that cannot be read. */
export interface DamageLocation {
  session?: string
  first?: number
  last?: number
}

/** The error for stored data that does not match its checksum. */
export function damaged(what: string, location: DamageLocation = {}): MainstemError {
  const { session, first, last } = location
  const entries = first === undefined ? '' : ` (entries ${first} to ${last})`
  const whose = session === undefined ? '' : ` of session ${session}`
  return new MainstemError(
    'storage_failed',
    `${what}${whose}${entries} is damaged: run mainstem doctor, then restore a backup or delete the session`,
    { what, ...location },
  )
}

/** Uses a fallback if the session is damaged. */
export function orIfDamaged<T>(session: string, read: () => T, instead: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (!isDamaged(thrown, session)) throw thrown
    return instead()
  }
}

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
