import type { DeniedBy, Location, ToolKind } from '../model/index.ts'
import { IdCounts, OpenItems } from './ids.ts'

interface OpenMessage {
  nativeId: string
  kind: 'text' | 'thinking'
  text: string
  parent: string | undefined
}

export interface OpenTool {
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

/**
 * Items that an agent has started and not ended. Every codec has a ledger, so that settlement works the same for all.
 */
export interface Ledger {
  /** The prefix of every emitted id: some agents restart their ids with each process. */
  readonly prefix: string
  readonly messages: OpenItems<OpenMessage>
  readonly tools: OpenItems<OpenTool>
  readonly requests: Map<string, { toolId: string | undefined; parent: string | undefined }>
  readonly subagents: Map<string, { background: boolean; parent: string | undefined }>
  /** How often a message or tool with this id was closed; a reused id gets a suffix. */
  readonly closedMessages: IdCounts
  readonly closedTools: IdCounts
  /** Denials of calls that have not started: a request may precede its call. Usually undefined. */
  refusals: Map<string, DeniedBy> | undefined
  denials: number
  personDenials: number
}

export function newLedger(prefix = ''): Ledger {
  return {
    prefix,
    messages: new OpenItems(),
    tools: new OpenItems(),
    requests: new Map(),
    subagents: new Map(),
    closedMessages: new IdCounts(),
    closedTools: new IdCounts(),
    refusals: undefined,
    denials: 0,
    personDenials: 0,
  }
}

/** The current id of a native id: one that is reused after it was closed gets `~2`, `~3`. */
export function currentId(open: OpenItems<unknown>, closed: IdCounts, id: string): string {
  return open.has(id) ? id : idAfter(id, closed.get(id))
}

/** Concatenated only for output: an id with its prefix is an additional string that is never looked up. */
export function emittedId({ prefix }: Ledger, id: string): string {
  return prefix === '' ? id : prefix + id
}

export function idAfter(id: string, uses: number | undefined): string {
  return uses === undefined ? id : `${id}~${uses + 1}`
}
