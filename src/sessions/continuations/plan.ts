import type { TurnCompleted } from '../../model/events/turn.ts'
import type { Continuation, ErrorCode } from '../../model/index.ts'
import type { Author } from '../../model/request/request.ts'
import type { SessionState } from '../../stores/store.ts'
import { authorOf } from '../command-context.ts'

const MINUTE_MS = 60_000

/** The largest number of continuations, unless the session sets another. */
const MOST = 3
/** How long after the first cut-off turn the last continuation may begin, unless the session sets another time. */
const WITHIN_MS = 12 * 60 * MINUTE_MS
/** Waits before each continuation of lost work: a turn that ends its server must not do so in a loop. */
const LOST_WAITS_MS = [0, MINUTE_MS, 5 * MINUTE_MS]
/** The shortest waits for a limit, where its reset is unknown or did not help. */
const LIMIT_WAITS_MS = [1_000, MINUTE_MS, 10 * MINUTE_MS]
/** The wait for a limit whose reset the agent does not report. */
const UNKNOWN_RESET_MS = 30 * MINUTE_MS

const LIMITS: ReadonlySet<ErrorCode> = new Set(['quota_exceeded', 'rate_limited'])

/** The parts of a session that decide whether and when it continues. */
export type PlanState = Pick<
  SessionState,
  'agent' | 'options' | 'continued' | 'limit' | 'queue' | 'openTurnBy'
>

/**
 * What continues a turn, for the sender of its prompt; or why nothing does although the session asks for it.
 */
export type Plan =
  | { continuation: Continuation; prompt: string; author: Partial<Author> }
  | { refused: string }

/**
 * Decides how a session continues after the end of a turn; undefined if its options ask for nothing. `isDrained`: the
 * server interrupted the turn because it stops.
 */
export function planContinuation(
  state: PlanState,
  completed: TurnCompleted,
  now: number,
  isDrained = false,
): Plan | undefined {
  const reason = reasonOf(state, completed, isDrained)
  if (reason === undefined || state.queue.some(({ continuation }) => continuation)) return undefined
  const { max: of = MOST, withinMs = WITHIN_MS } = state.options.continuations ?? {}
  const attempt = (state.continued?.attempt ?? 0) + 1
  const until = state.continued?.until ?? now + withinMs
  const agent = reason === 'limit' ? successorOf(state) : undefined
  const waitMs = agent === undefined ? waitOf(state, reason, attempt, now) : 0
  const at = now + waitMs
  if (attempt > of) return { refused: `it was continued ${of} times already` }
  if (at > until) return { refused: `it could continue in ${minutes(waitMs)}, after its latest time` }
  const continuation = { reason, after: completed.turn, at, attempt, of, until }
  const author = authorOf(state.openTurnBy)
  if (agent !== undefined) return { continuation: { ...continuation, agent }, prompt: TAKEN_OVER, author }
  return { continuation, prompt: promptOf(reason), author }
}

function reasonOf(
  { options }: PlanState,
  { outcome, error }: TurnCompleted,
  isDrained: boolean,
): Continuation['reason'] | undefined {
  const isLost = outcome === 'lost' || outcome === 'crashed' || (outcome === 'interrupted' && isDrained)
  if (isLost) return options.onLost === 'continue' ? 'lost' : undefined
  const isLimit = outcome === 'failed' && error !== undefined && LIMITS.has(error.code)
  return isLimit && options.onLimit !== undefined && options.onLimit !== 'fail' ? 'limit' : undefined
}

/** The agent that continues after a limit. Once it works on the session, it waits for its own limits. */
function successorOf({ agent, options: { onLimit } }: PlanState): string | undefined {
  return typeof onLimit === 'object' && onLimit.continueAs !== agent ? onLimit.continueAs : undefined
}

function waitOf({ limit }: PlanState, reason: Continuation['reason'], attempt: number, now: number): number {
  const waits = reason === 'lost' ? LOST_WAITS_MS : LIMIT_WAITS_MS
  const least = waits[attempt - 1] ?? waits.at(-1) ?? 0
  if (reason === 'lost') return least
  const resetMs = limit?.resetsAt === undefined ? UNKNOWN_RESET_MS : limit.resetsAt - now
  return Math.max(resetMs, least)
}

const CHECK = 'Some of its work may be done: check before you repeat anything, then finish the rest.'

/** What another agent is told after the recap. */
const TAKEN_OVER = `Continue. (Mainstem sends this because a usage limit ended the last turn of the agent before you. ${CHECK})`

/** What the agent is told. A person reads it in the log as the prompt of the turn. */
function promptOf(reason: Continuation['reason']): string {
  if (reason === 'lost')
    return `Continue. (Mainstem sends this because the last turn was cut off: its process went away. ${CHECK})`
  return `Continue. (Mainstem sends this because a usage limit ended the last turn, and has reset since. ${CHECK})`
}

function minutes(ms: number): string {
  return `${Math.ceil(ms / MINUTE_MS)} min`
}
