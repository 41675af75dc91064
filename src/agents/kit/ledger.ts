import type { RequestOpened } from '../../model/events/request.ts'
import type { DeniedBy, Location, ToolKind } from '../../model/index.ts'

export interface LedgerMessage {
  nativeId: string
  kind: 'text' | 'thinking'
  text: string
  parent: string | undefined
  /** The first half of a character that no delta has sent yet. */
  half: string | undefined
}

export interface LedgerTool {
  nativeId: string
  /** The id in emitted events. */
  toolId: string
  name: string
  kind: ToolKind
  parent: string | undefined
  input: unknown
  locations: readonly Location[] | undefined
  /** Who denied the call; the agent may or may not report it. */
  refusedBy: DeniedBy | undefined
}

/** A request without the fields that are known only when it is emitted. */
export type NewRequest = Omit<RequestOpened, 'type' | 'inputDigest'>

interface LedgerRequest<Ask> {
  /** The request as the agent made it. */
  readonly asked: NewRequest
  /** What the codec needs to encode the answer. */
  ask: Ask
}

/**
 * Items that an agent has started and not ended. Every codec has a ledger, so that settlement works the same for all.
 */
export interface Ledger<Ask = unknown> {
  /** The prefix of every emitted id: some agents restart their ids with each process. */
  readonly prefix: string
  readonly messages: Map<string, LedgerMessage>
  readonly tools: Map<string, LedgerTool>
  readonly requests: Map<string, LedgerRequest<Ask>>
  readonly subagents: Map<string, { background: boolean; parent: string | undefined }>
  /** How often a message or tool with this id was closed; a reused id gets a suffix. */
  readonly closedMessages: Map<string, number>
  readonly closedTools: Map<string, number>
  /** How often a request with this id was opened, for agents that reuse the ids of answered requests. */
  readonly openedRequests: Map<string, number>
  /** Denials of calls that have not started: a request may precede its call. Usually undefined. */
  refusals: Map<string, DeniedBy> | undefined
  denials: number
  personDenials: number
}

export function newLedger<Ask>(prefix = ''): Ledger<Ask> {
  return {
    prefix,
    messages: new Map(),
    tools: new Map(),
    requests: new Map(),
    subagents: new Map(),
    closedMessages: new Map(),
    closedTools: new Map(),
    openedRequests: new Map(),
    refusals: undefined,
    denials: 0,
    personDenials: 0,
  }
}

/** Forgets the denials of a turn, and those between two turns, which count for neither. */
export function resetDenials(ledger: Ledger): void {
  ledger.denials = 0
  ledger.personDenials = 0
}

/** The current id of a native id: one that is reused after it was closed gets `~2`, `~3`. */
export function currentId(
  open: ReadonlyMap<string, unknown>,
  closed: ReadonlyMap<string, number>,
  id: string,
): string {
  return open.has(id) ? id : idAfter(id, closed.get(id))
}

/** Concatenated only for output: an id with its prefix is an additional string that is never looked up. */
export function emittedId({ prefix }: Ledger, id: string): string {
  return prefix === '' ? id : prefix + id
}

export function idAfter(id: string, uses: number | undefined): string {
  return uses === undefined ? id : `${id}~${uses + 1}`
}

/** Counts one more use of an id and returns the uses before it. */
export function countUse(uses: Map<string, number>, id: string): number | undefined {
  const before = uses.get(id)
  uses.set(id, (before ?? 0) + 1)
  return before
}
