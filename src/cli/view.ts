import type { Rules } from '../dialects/dialect.ts'
import { Screen, type ScreenOptions } from './screen.ts'

/** A call that was shown and has no result yet. */
interface ShownTool {
  name: string
  title: string
  input: unknown
  /** The output so far, for agents that do not repeat it in the result. */
  output: string
  /** Its change was shown, which says more than its output. */
  changed: boolean
}

interface ShownSubagent {
  depth: number
  parent: string | undefined
  toolId: string | undefined
}

/** The view of a session on a terminal: the state of the fold over its entries. */
export interface View {
  readonly screen: Screen
  readonly tools: Map<string, ShownTool>
  /** The call whose card is still open at the end of the output. */
  openCard: string | undefined
  /** The text of each open message as far as it was streamed. */
  readonly streamed: Map<string, string>
  readonly subagents: Map<string, ShownSubagent>
  /** Calls whose result was shown with their sub-agent. */
  readonly told: Set<string>
  /** The status of each item of the plan that was shown. */
  plan: ReadonlyMap<string, string>
  /** Whether the main thread wrote text in this turn. */
  spoke: boolean
  /** The error notices of this turn, which its end does not repeat. */
  readonly errors: Set<string>
}

/** A rule for each event that it shows; it returns the pieces of text to print. */
export type ViewRules = Rules<View, string>

export function newView(options: ScreenOptions): View {
  return {
    screen: new Screen(options),
    tools: new Map(),
    openCard: undefined,
    streamed: new Map(),
    subagents: new Map(),
    told: new Set(),
    plan: new Map(),
    spoke: false,
    errors: new Set(),
  }
}

/** Two spaces on the main thread; a line for each sub-agent that the speaker is nested in. */
export function marginOf(view: View, parent: string | undefined): string {
  const depth = parent === undefined ? 0 : (view.subagents.get(parent)?.depth ?? 1)
  return `  ${'┆ '.repeat(depth)}`
}

/** Starts a new card. The card above it is complete. */
export function newCard(view: View): string {
  view.openCard = undefined
  return view.screen.gap()
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
