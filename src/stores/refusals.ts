import type { Entry } from '../model/index.ts'
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
