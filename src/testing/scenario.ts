/** What the model says, call by call, in one conversation. Plain data: it can be kept as JSON. */
export interface Scenario {
  readonly replies: readonly Reply[]
  /** The last reply is given again and again. Otherwise the model then says that nothing more is scripted. */
  readonly endless?: boolean
}

/** The answer to one model call, in the order in which models say it: thinking, text, tool calls. */
export interface Reply {
  readonly thinking?: string
  readonly text?: string
  /** In how many pieces the thinking and the text are streamed. */
  readonly deltas?: number
  /** The time between two pieces; none unless said. */
  readonly paceMs?: number
  readonly calls?: readonly (Action | NativeCall)[]
  /** A call of the program's own tool for structured output, or JSON as text where it has none. */
  readonly structured?: unknown
  readonly stop?: StopReason
  /** Figures that are left out are made up. */
  readonly usage?: Partial<Tokens>
  /** What goes wrong while this reply is delivered, one fault after the other; then it is delivered whole. */
  readonly faults?: readonly Fault[]
}

/** Follows from the reply unless said: `tools` with calls, else `end`. */
export type StopReason = 'end' | 'tools' | 'length' | 'refusal'

/** As in the event model: `input` is what no cache held, `output` includes `reasoning`. */
export interface Tokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/**
 * `after` counts the pieces that are delivered before it happens: one unless said. With 0, a drop and a stall come
 * before the headers. `times` counts the calls it happens to; without it, it happens to each.
 */
export type Fault = { readonly times?: number } & (
  | {
      readonly kind: 'status'
      readonly status: number
      readonly message?: string
      readonly retryAfterSeconds?: number
      /** Instead of the error body that the vendor would send. */
      readonly body?: unknown
    }
  /** The connection breaks. */
  | { readonly kind: 'drop'; readonly after?: number }
  /** The stream ends as if it were whole. */
  | { readonly kind: 'truncate'; readonly after?: number }
  /** A message that is not JSON; the rest follows. */
  | { readonly kind: 'garble'; readonly after?: number }
  /** The vendor's own word for "something went wrong on our side", inside the stream. */
  | { readonly kind: 'error'; readonly after?: number; readonly message?: string }
  /** Silence, until it is released or for a time; the rest follows. */
  | { readonly kind: 'stall'; readonly after?: number; readonly ms?: number }
)

/** What a call is to do, whatever the tool is named. */
export interface Actions {
  /** `escalate` asks for rights beyond a sandbox, where a program has such a request. */
  shell: { readonly command: string; readonly escalate?: boolean }
  write: { readonly path: string; readonly content: string }
  edit: { readonly path: string; readonly from: string; readonly to: string }
  read: { readonly path: string }
  plan: { readonly items: readonly PlanItem[] }
  /** Hands a task to a sub-agent. Its conversation is another one, with a marker of its own in the task. */
  delegate: { readonly task: string }
  /** Waits for the sub-agent, in programs where handing over does not wait. */
  join: Record<never, never>
  ask: { readonly question: string; readonly options: readonly string[] }
  /** Shows a plan and asks whether to begin. */
  propose: { readonly plan: string }
  mcp: { readonly server: string; readonly tool: string; readonly input: object }
}

export interface PlanItem {
  readonly text: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

export type Action = { [Do in keyof Actions]: { readonly do: Do } & Actions[Do] }[keyof Actions]

/** A call by the tool's own name, offered or not. */
export interface NativeCall {
  readonly name: string
  /** Text for a tool that takes free text, as Codex's `apply_patch` does. */
  readonly input: object | string
  readonly namespace?: string
}
