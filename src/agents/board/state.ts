import type { ErrorInfo, Evidence } from '../../model/index.ts'
import type { Emitted, Start } from '../agent.ts'
import { KnownIds } from '../ids.ts'
import { type Ledger, newLedger } from '../ledger.ts'
import type { Change } from '../tools.ts'

/** Some addresses put it before the ids of events, others do not. */
export const ID_PREFIX = 'evt-'

/** A call without its result. */
export interface OpenCall {
  readonly toolId: string
  readonly name: string
  readonly input: unknown
  /** The id that some servers put on a call and its result; without it, results are matched by the tool's name. */
  readonly callId: string | undefined
  /** Changes that were told while it ran: facts only if it succeeds. */
  readonly changes: Change[]
}

/** What the board said about the end, before its state was known. */
export interface Failure {
  readonly evidence: Evidence
  readonly error?: ErrorInfo
  readonly reason?: string
}

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  /** The board's own id of the session. */
  session: string | undefined
  turnOpen: boolean
  /** An interrupt that waits for the session's id. */
  cancelling: boolean
  /** Ids of events: a connection that begins again repeats what was said. */
  readonly seen: KnownIds
  unnamed: number
  /** Oldest first. */
  readonly calls: OpenCall[]
  failure: Failure | undefined
  /** The board's own word for how the session stands. */
  standing: string | undefined
}

export function initialState(start: Start): State {
  return {
    start,
    ledger: newLedger(),
    session: undefined,
    turnOpen: false,
    cancelling: false,
    seen: new KnownIds(ID_PREFIX),
    unnamed: 0,
    calls: [],
    failure: undefined,
    standing: undefined,
  }
}

const NOTHING_NEW: readonly Emitted[] = []

/** The session that everything is about from now on. */
export function adopt(state: State, session: string): readonly Emitted[] {
  if (state.session !== undefined) return NOTHING_NEW
  state.session = session
  return [{ type: 'session.updated', nativeSessionId: session }]
}
