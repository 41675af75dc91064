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
  /** As it is said. */
  toolId: string
  name: string
  kind: ToolKind
  parent: string | undefined
  input: unknown
  locations: readonly Location[] | undefined
  /** Somebody said no; the agent may or may not report it. */
  refusedBy: DeniedBy | undefined
}

/** What an agent has begun and not yet ended. Every codec keeps one, so that settlement is the same for all. */
export interface Ledger {
  /** Stands before every id that is said: those of some agents begin again with each process. */
  readonly prefix: string
  readonly messages: OpenItems<OpenMessage>
  readonly tools: OpenItems<OpenTool>
  readonly requests: Map<string, { toolId: string | undefined; parent: string | undefined }>
  readonly subagents: Map<string, { background: boolean; parent: string | undefined }>
  /** How often a message or tool of this id was closed; an id that returns gets a suffix. */
  readonly closedMessages: IdCounts
  readonly closedTools: IdCounts
  /** Who refused calls that have not begun: a request may come before its call. None at most times. */
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

/** The id under which a native id is known now: one that returns after it was closed gets `~2`, `~3`. */
export function currentId(open: OpenItems<unknown>, closed: IdCounts, id: string): string {
  return open.has(id) ? id : idAfter(id, closed.get(id))
}

/** Put together only here: an id with its prefix is a string more, which nobody has to look up. */
export function saidAs({ prefix }: Ledger, id: string): string {
  return prefix === '' ? id : prefix + id
}

export function idAfter(id: string, uses: number | undefined): string {
  return uses === undefined ? id : `${id}~${uses + 1}`
}
