import type { Entry } from '../../model/index.ts'
import type { ContextUsage } from '../../model/session/context-usage.types.ts'
import type { EventOf, RequestItem, TimelineItem, ToolItem } from './items.ts'

interface ItemPlace {
  list: TimelineItem[]
  index: number
  /** The tool item whose sub-agent owns the list; absent at the top level. */
  owner: string | undefined
}

/** The facts of a session that its events contain, apart from the conversation. */
export interface SessionFacts {
  /** What the agent supports. */
  capabilities: EventOf<'session.started'>['capabilities'] | undefined
  /** The version of the agent. */
  agentVersion: string | undefined
  /** The current model. */
  model: string | undefined
  /** The models that the agent offers. */
  models: NonNullable<EventOf<'session.updated'>['models']>
  /** The current mode. */
  mode: string | undefined
  /** The modes that the agent offers. */
  modes: NonNullable<EventOf<'session.updated'>['modes']>
  /** The tokens in the context window, and its size. */
  context: ContextUsage | undefined
  /** Whether the agent reported its usage, or the server computed it. */
  usageSource: 'agent' | 'computed' | undefined
  /** The last time that the agent lost the conversation so far. */
  contextLost: { seq: number; message: string } | undefined
}

/** The turn that runs. */
export interface RunningTurn {
  /** Its number. */
  turn: number
  /** When it started, in milliseconds since 1970. */
  startedAt: number
  /** The tokens that it used so far. */
  tokens: number
}

/**
 * The conversation of a session: a fold over consecutive entries of its log. It may start at any entry. Items are
 * replaced when they change, so that a view can compare them by identity; lists grow in place.
 */
export interface Timeline {
  /** The `seq` of the first entry; 0 before it. */
  first: number
  /** The `seq` of the last entry; 0 before the first one. */
  last: number
  /** The conversation. Sub-agents have their items in the call that started them. */
  items: TimelineItem[]
  /** What else the entries say about the session. */
  facts: SessionFacts
  /** The turn that runs; undefined between turns. */
  running: RunningTurn | undefined
  /** Every request by its id. */
  requests: Map<string, RequestItem>
  /** Where each item is, by its key. */
  places: Map<string, ItemPlace>
  /** The tool item of each sub-agent. */
  agents: Map<string, string>
}

/** An empty timeline. */
export function newTimeline(): Timeline {
  return {
    first: 0,
    last: 0,
    items: [],
    facts: {
      capabilities: undefined,
      agentVersion: undefined,
      model: undefined,
      models: [],
      mode: undefined,
      modes: [],
      context: undefined,
      usageSource: undefined,
      contextLost: undefined,
    },
    running: undefined,
    requests: new Map(),
    places: new Map(),
    agents: new Map(),
  }
}

export function find<Kind extends TimelineItem['kind']>(
  { places }: Timeline,
  key: string,
  kind: Kind,
): Extract<TimelineItem, { kind: Kind }> | undefined {
  const place = places.get(key)
  const item = place?.list[place.index]
  return item?.kind === kind ? (item as Extract<TimelineItem, { kind: Kind }>) : undefined
}

/** Adds an item at the end of the main thread, or of the work of its sub-agent. */
export function add(timeline: Timeline, item: TimelineItem, parent?: string): void {
  const owner = parent === undefined ? undefined : toolOfAgent(timeline, parent, item)
  const list = owner?.subagent?.items ?? timeline.items
  timeline.places.set(item.key, { list, index: list.length, owner: owner?.key })
  list.push(item)
  if (owner) touch(timeline, owner.key)
}

export function replace(timeline: Timeline, item: TimelineItem): void {
  const place = timeline.places.get(item.key)
  if (!place) return
  place.list[place.index] = item
  if (place.owner !== undefined) touch(timeline, place.owner)
}

/** Gives the tool item a new identity, because something inside of it changed. */
function touch(timeline: Timeline, key: string): void {
  const tool = find(timeline, key, 'tool')
  if (tool) replace(timeline, { ...tool })
}

/** The position of an item in the log. */
type Origin = Pick<Entry, 'seq' | 'at'> & { turn?: number | undefined }

/** The fields that every item takes from its first entry. */
export function baseOf(
  key: string,
  { seq, at, turn }: Origin,
): Pick<TimelineItem, 'key' | 'seq' | 'at' | 'turn'> {
  return { key, seq, at, turn }
}

export const toolKey = (toolId: string): string => `tool:${toolId}`

export function newTool(toolId: string, name: string, entry: Origin): ToolItem {
  return {
    ...baseOf(toolKey(toolId), entry),
    kind: 'tool',
    toolId,
    name,
    toolKind: 'other',
    title: undefined,
    input: undefined,
    draft: '',
    status: 'running',
    waitsFor: undefined,
    output: '',
    message: undefined,
    progress: undefined,
    exitCode: undefined,
    durationMs: undefined,
    error: undefined,
    deniedBy: undefined,
    blob: undefined,
    files: [],
    subagent: undefined,
    runningSince: entry.at,
    endedAt: undefined,
  }
}

/** The name of a sub-agent in the conversation. */
export function subagentName(timeline: Timeline, id: string): string | undefined {
  const key = timeline.agents.get(id)
  return key === undefined ? undefined : find(timeline, key, 'tool')?.subagent?.label
}

/** The tool item that contains a sub-agent. If the start of the call is not loaded, creates a separate item. */
function toolOfAgent(timeline: Timeline, id: string, item: TimelineItem): ToolItem | undefined {
  const known = timeline.agents.get(id) ?? (timeline.places.has(toolKey(id)) ? toolKey(id) : undefined)
  const found = known === undefined ? undefined : find(timeline, known, 'tool')
  const tool: ToolItem = found ?? {
    ...newTool(`agent ${id}`, 'sub-agent', item),
    toolKind: 'task',
  }
  if (!found) add(timeline, tool)
  timeline.agents.set(id, tool.key)
  if (tool.subagent) return tool
  const held: ToolItem = {
    ...tool,
    subagent: {
      id,
      label: tool.title ?? tool.name,
      model: undefined,
      background: false,
      status: 'running',
      message: undefined,
      summary: undefined,
      items: [],
    },
  }
  replace(timeline, held)
  return held
}
