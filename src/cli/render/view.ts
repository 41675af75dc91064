import { describeCall, withRelativePaths } from '../../client/calls/describe-call.ts'
import type { ToolItem } from '../../client/timeline/items.ts'
import { find, newTimeline, type Timeline, toolKey } from '../../client/timeline/timeline.ts'
import type { EntryRules } from '../../dialects/dialect.ts'
import { Screen, type ScreenOptions } from './screen.ts'

/** The status of each item, by its text and the number of earlier items with the same text. */
type ShownPlan = ReadonlyMap<string, string>

/** The view of a session on a terminal: its timeline, and what was printed of it. */
export interface TerminalView {
  readonly screen: Screen
  /** The latest turn, and what still runs of earlier ones. */
  timeline: Timeline
  /** The call whose card is still open at the end of the output. */
  openCard: string | undefined
  /** Whether the output ends with the line of a call, which the line of the next call follows without a gap. */
  endsWithCall: boolean
  /** The sub-agent that spoke last; undefined for the main thread. */
  speaker: string | undefined
  /** The directory of the session; empty while it is unknown. */
  cwd: string
  /** Whether to show outputs and changes whole. */
  readonly isFull: boolean
  /** The principal who reads: prompts of others name their sender. Undefined names none. */
  readonly reader: string | undefined
  /** The text of each open message as far as it was streamed. */
  readonly streamed: Map<string, string>
  /** Calls whose result needs no line, because their sub-agent or their plan was shown. */
  readonly told: Set<string>
  /** Calls whose changes were shown when they asked for permission. */
  readonly shownChanges: Set<string>
  /** The plan of the main thread (undefined) and of each sub-agent, as it was shown. */
  readonly plans: Map<string | undefined, ShownPlan>
  /** Whether several requests were open at once, so that an answer has to name its request. */
  isParallel: boolean
}

/** A rule for each event that it shows; it returns the pieces of text to print. */
export type ViewRules = EntryRules<TerminalView, string>

export interface ViewOptions extends ScreenOptions {
  isFull?: boolean
  /** The directory of the session, if it is known before its first entry. */
  cwd?: string
  reader?: string | undefined
}

export function newView(options: ViewOptions): TerminalView {
  return {
    screen: new Screen(options),
    timeline: newTimeline(),
    openCard: undefined,
    endsWithCall: false,
    speaker: undefined,
    cwd: options.cwd ?? '',
    isFull: options.isFull ?? false,
    reader: options.reader,
    streamed: new Map(),
    told: new Set(),
    shownChanges: new Set(),
    plans: new Map(),
    isParallel: false,
  }
}

/** Two spaces on the main thread; a line for each sub-agent that the speaker is nested in. */
export function marginOf(view: TerminalView, parent: string | undefined): string {
  if (parent === undefined) return margin(0)
  return margin(depthOf(view, view.timeline.agents.get(parent)) + 1)
}

/** The margin of a tool call. */
export function marginOfCall(view: TerminalView, { key }: ToolItem): string {
  return margin(depthOf(view, key))
}

function margin(depth: number): string {
  return `  ${'┆ '.repeat(depth)}`
}

/** The number of calls around a call. */
function depthOf(view: TerminalView, key: string | undefined): number {
  const owner = key === undefined ? undefined : view.timeline.places.get(key)?.owner
  return owner === undefined ? 0 : depthOf(view, owner) + 1
}

/** The call of an event. */
export function callOf({ timeline }: TerminalView, toolId: string | undefined): ToolItem | undefined {
  return toolId === undefined ? undefined : find(timeline, toolKey(toolId), 'tool')
}

/** The call that started a sub-agent. */
export function callOfAgent({ timeline }: TerminalView, id: string): ToolItem | undefined {
  const key = timeline.agents.get(id)
  return key === undefined ? undefined : find(timeline, key, 'tool')
}

/** What a call does, on one line, with paths relative to the directory of the session. A command stays as it is. */
export function titleOf(call: ToolItem, cwd: string): string {
  const { title, input } = call
  const { subject, form } = describeCall(call, cwd)
  if (title !== undefined) return form === 'command' ? title : withRelativePaths(title, cwd)
  if (subject !== '' || input === undefined) return subject
  return JSON.stringify(input) ?? ''
}

/** Starts a new card. The card above it is complete. */
export function newCard(view: TerminalView): string {
  view.openCard = undefined
  view.endsWithCall = false
  return view.screen.gap()
}

/** Names the sub-agent that speaks next, if another one spoke last. Several of them work at the same time. */
export function turnTo(view: TerminalView, parent: string | undefined): string {
  if (parent === view.speaker) return ''
  view.speaker = parent
  const call = parent === undefined ? undefined : callOfAgent(view, parent)
  const { screen } = view
  if (!screen.rich || !call?.subagent) return ''
  const { label } = call.subagent
  const { dim, magenta } = screen.colors
  const own = marginOfCall(view, call)
  return newCard(view) + screen.line(own === '  ' ? '' : own, [magenta, '◇ '], [dim, label])
}

/** `420 ms`, `58.4 s`, `2 m 05 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
}

/** `0:42`, `12:05`, `1:02:03`. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const two = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const rest = `${hours > 0 ? two(minutes % 60) : minutes}:${two(seconds % 60)}`
  return hours > 0 ? `${hours}:${rest}` : rest
}
