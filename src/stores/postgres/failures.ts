import { setTimeout as sleep } from 'node:timers/promises'
import { MainstemError } from '../../model/index.ts'
import { storageFailed } from '../refusals.ts'
import type { Address } from './address.ts'

/**
 * Codes of failures that pass: the connection or the server is gone (08, 57P), too many connections (53300), a deadlock
 * or a lock that another transaction has (40, 55P03), and a server that became a read-only standby (25006).
 */
const PASSING = /^(?:08...|57P0[1-5]|53300|40001|40P01|55P03|25006)$/

/** The message of `pg` for a closed connection, which has no code. */
const DISCONNECTED = /^(?:Connection terminated|Query read timeout|timeout exceeded|Client has encountered)/

/** Whether the same statement may succeed later. It may also have succeeded already: the connection broke. */
export function isTransient(thrown: unknown): boolean {
  const code = codeOf(thrown)
  if (isSqlState(thrown)) return PASSING.test(code ?? '')
  return code?.startsWith('E') === true || DISCONNECTED.test(messageOf(thrown))
}

/** Whether a row was refused because another one has its key. */
export function isDuplicate(thrown: unknown): boolean {
  return codeOf(thrown) === '23505'
}

/** Whether a lock that another transaction has was not released in time. */
export function isLockTimeout(thrown: unknown): boolean {
  return codeOf(thrown) === '55P03'
}

/** Whether the name of a statement is not known to the connection, or known already: a pooler gave it another one. */
export function isUnknownName(thrown: unknown): boolean {
  const code = codeOf(thrown)
  return code === '26000' || code === '42P05'
}

/** PgBouncer refuses parameters at the start of a connection that it does not know. */
export function isUnknownParameter(thrown: unknown): boolean {
  return /unsupported startup parameter/.test(messageOf(thrown))
}

/** Why a store cannot be opened, in one sentence with what to do. */
export function cannotOpen({ shown }: Address, thrown: unknown): MainstemError {
  if (thrown instanceof MainstemError) return thrown
  const reason = REASONS[codeOf(thrown) ?? ''] ?? reasonOf(messageOf(thrown))
  if (reason === undefined) return storageFailed(`cannot open the store in PostgreSQL at ${shown}`, thrown)
  return new MainstemError('storage_failed', `PostgreSQL at ${shown} ${reason}`, undefined, { cause: thrown })
}

const UNREACHABLE = 'cannot be reached: start it, or correct host and port in the store URL'
const REFUSED = 'refuses the user: correct user and password in the store URL'

const MISSING = 'has no such database: create it, or correct the database in the store URL'

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: UNREACHABLE,
  ECONNRESET: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  ENOENT: UNREACHABLE,
  ENOTFOUND: 'cannot be found: correct the host in the store URL',
  EAI_AGAIN: 'cannot be found: correct the host in the store URL',
  '28P01': REFUSED,
  '28000': REFUSED,
  '3D000': MISSING,
  '42501':
    'does not give the user the rights it needs: grant it CREATE on the database, or USAGE and CREATE on the schema',
}

/** PgBouncer has one code for all failures. */
function reasonOf(message: string): string | undefined {
  if (DISCONNECTED.test(message)) return UNREACHABLE
  if (/authentication failed|no such user/.test(message)) return REFUSED
  if (/^database .* does not exist|no such database/.test(message)) return MISSING
  return /password must be a string/.test(message) ? REFUSED : undefined
}

function isSqlState(thrown: unknown): boolean {
  return thrown instanceof Error && 'severity' in thrown
}

/** The code of an error, or of the first of several attempts to connect. */
function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code
  return thrown instanceof AggregateError ? codeOf(thrown.errors[0]) : undefined
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

const FIRST_MS = 50
const LONGEST_MS = 2_000

/** Exponential backoff with jitter, so that servers do not all reconnect at the same moment. */
export class Backoff {
  readonly #until: number
  readonly #signal: AbortSignal
  #pauseMs = FIRST_MS

  /** Ends after `patienceMs`, or when the signal aborts. */
  constructor(patienceMs: number, signal: AbortSignal) {
    this.#until = performance.now() + patienceMs
    this.#signal = signal
  }

  /** Waits for the next attempt. Returns false if there is none. */
  async wait(): Promise<boolean> {
    const pauseMs = this.#pauseMs * (0.5 + Math.random())
    if (performance.now() + pauseMs > this.#until) return false
    this.#pauseMs = Math.min(LONGEST_MS, this.#pauseMs * 2)
    // Aborted: the caller gives up.
    await sleep(pauseMs, undefined, { signal: this.#signal }).catch(() => undefined)
    return !this.#signal.aborted
  }
}
