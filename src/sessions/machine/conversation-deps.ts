import type { LaunchRecipe, Start } from '../../agents/agent.ts'
import type { SessionStarted } from '../../model/events/session.ts'
import type { SessionRecord, Usage } from '../../model/index.ts'
import type { EarlierContext } from './agent-context.ts'
import type { Emit } from './large-values.ts'
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

/** The facts in `session.started`. */
export interface StartedFacts {
  agent: string
  recipe: LaunchRecipe
  start: Omit<Start, 'epoch'>
  /** The project that the client named. */
  project?: string | undefined
  /** The name that the client gave the session. */
  name?: string | undefined
}

/** The first event of every log. */
export function sessionStarted({ agent, recipe, start, project, name }: StartedFacts): SessionStarted {
  return {
    type: 'session.started',
    agent,
    launch: start.launch,
    cwd: start.cwd,
    ...(project !== undefined && { project }),
    ...(name !== undefined && { name }),
    policy: start.policy,
    capabilities: recipe.capabilities,
    ...(start.options.model !== undefined && { model: start.options.model }),
    ...(start.resume !== undefined && { resumedFrom: start.resume }),
  }
}
