import type { Entry } from 'mainstem/client'
import type { EventOf, Item, RequestItem, ToolItem } from './items.ts'

interface Place {
  list: Item[]
  index: number
  /** The tool item whose sub-agent owns the list; absent at the top level. */
  owner: string | undefined
}

/** The facts of a session that its events carry, apart from the conversation. */
export interface Facts {
  capabilities: EventOf<'session.started'>['capabilities'] | undefined
  agentVersion: string | undefined
  model: string | undefined
  models: NonNullable<EventOf<'session.updated'>['models']>
  mode: string | undefined
  modes: NonNullable<EventOf<'session.updated'>['modes']>
  context: { used: number; size: number | undefined } | undefined
  usageSource: 'agent' | 'computed' | undefined
  contextLost: { seq: number; message: string } | undefined
}

/**
 * The conversation of a session as a fold over a stretch of its log. It may start anywhere: an event whose beginning lies
 * before the stretch still shows what it carries. Items are replaced when they change, so that a view can compare them by
 * identity; lists grow in place.
 */
export interface Timeline {
  first: number
  last: number
  items: Item[]
  facts: Facts
  /** Every request of the stretch by its id. */
  requests: Map<string, RequestItem>
  places: Map<string, Place>
  /** The tool item of each sub-agent. */
  agents: Map<string, string>
}

export function emptyTimeline(): Timeline {
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
    requests: new Map(),
    places: new Map(),
    agents: new Map(),
  }
}

export function find<Kind extends Item['kind']>(
  { places }: Timeline,
  key: string,
  kind: Kind,
): Extract<Item, { kind: Kind }> | undefined {
  const place = places.get(key)
  const item = place?.list[place.index]
  return item?.kind === kind ? (item as Extract<Item, { kind: Kind }>) : undefined
}

/** Adds an item at the end of the main thread, or of the work of its sub-agent. */
export function add(timeline: Timeline, item: Item, parent?: string): void {
  const owner = parent === undefined ? undefined : toolOfAgent(timeline, parent, item)
  const list = owner?.subagent?.items ?? timeline.items
  timeline.places.set(item.key, { list, index: list.length, owner: owner?.key })
  list.push(item)
  if (owner) touch(timeline, owner.key)
}

export function replace(timeline: Timeline, item: Item): void {
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
export function baseOf(key: string, { seq, at, turn }: Origin): Pick<Item, 'key' | 'seq' | 'at' | 'turn'> {
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
    endedAt: undefined,
  }
}

/** The tool item that contains a sub-agent. If the start of the call is not loaded, creates a separate item. */
function toolOfAgent(timeline: Timeline, id: string, item: Item): ToolItem | undefined {
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
