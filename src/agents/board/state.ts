import type { ErrorInfo, Evidence } from '../../model/index.ts'
import type { Emitted, Start } from '../agent.ts'
import { type Ledger, newLedger } from '../kit/ledger.ts'
import type { FileChange } from '../kit/tools.ts'

/** Some endpoints put this prefix before event ids, others do not. */
export const ID_PREFIX = 'evt-'

/** A call without a result. */
export interface BoardCall {
  readonly toolId: string
  readonly name: string
  readonly input: unknown
  /** The id that some servers put on a call and its result; without it, results are matched by tool name. */
  readonly callId: string | undefined
  /** Changes reported while the call ran: they are facts only if it succeeds. */
  readonly changes: FileChange[]
}

/** The end as the board reported it, before its state is known. */
export interface BoardFailure {
  readonly evidence: Evidence
  readonly error?: ErrorInfo
  readonly reason?: string
}

export interface BoardCodecState {
  readonly start: Start
  readonly ledger: Ledger
  /** The board's session id. */
  session: string | undefined
  turnOpen: boolean
  /** An interrupt that waits for the session id. */
  cancelling: boolean
  /** Ids of received events without their prefix, because a new connection repeats earlier ones. */
  readonly seen: Set<string>
  unnamed: number
  /** Oldest first. */
  readonly calls: BoardCall[]
  failure: BoardFailure | undefined
  /** The state of the session as the board names it. */
  standing: string | undefined
}

export function initialState(start: Start): BoardCodecState {
  return {
    start,
    ledger: newLedger(),
    session: undefined,
    turnOpen: false,
    cancelling: false,
    seen: new Set(),
    unnamed: 0,
    calls: [],
    failure: undefined,
    standing: undefined,
  }
}

const NOTHING_NEW: readonly Emitted[] = []

/** Adopts the session id that applies to all later frames. */
export function adopt(state: BoardCodecState, session: string): readonly Emitted[] {
  if (state.session !== undefined) return NOTHING_NEW
  state.session = session
  return [{ type: 'session.updated', nativeSessionId: session }]
}
