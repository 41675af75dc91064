import type { SessionRecord, Usage } from '../../model/index.ts'
import type { EarlierContext } from './agent-context.ts'
import type { Emit } from './large-values.ts'
import type { StartedFacts } from './session-started.ts'
import type { TurnRules } from './turn-machine.ts'

/** What a conversation needs and where it begins. */
export interface ConversationDeps extends TurnRules, StartedFacts {
  /** The state of the session before this owner acquired it. */
  before?: BeforeStart & SessionCounts & { epoch: number; usageSoFar: Usage }
  now(): number
  emit: Emit
}

/** What the state of a process depends on, besides its journal. */
export interface BeforeStart {
  turns: number
  context: EarlierContext
}

/** An open turn, and when it began. */
export interface OpenSince {
  turn: number
  startedAt: number
}

/** The counts of a session. */
export type SessionCounts = Pick<SessionRecord, 'turns' | 'frames' | 'coverage'>
