/** The replies of the model in one conversation, one per model call. Plain data that can be stored as JSON. */
export interface Scenario {
  /** The replies, in order. */
  readonly replies: readonly Reply[]
  /** Repeats the last reply. Otherwise the model replies that nothing more is scripted. */
  readonly endless?: boolean
}

/** The reply to one model call: thinking, text, tool calls, in this order. */
export interface Reply {
  /** The thinking. */
  readonly thinking?: string
  /** The text. */
  readonly text?: string
  /** The number of pieces in which the thinking and the text are streamed; 4 by default. */
  readonly deltas?: number
  /** Milliseconds between two pieces; 0 by default. */
  readonly paceMs?: number
  /** The tool calls. */
  readonly calls?: readonly (Action | NativeCall)[]
  /** Structured output: a call of the program's own tool for it, or JSON text if it has none. */
  readonly structured?: unknown
  /** The stop reason; by default `tools` if there are calls, else `end`. */
  readonly stop?: StopReason
  /** Token counts; omitted ones get a default. */
  readonly usage?: Partial<Tokens>
  /** Faults for the first calls, in order. Later calls get the whole reply. */
  readonly faults?: readonly Fault[]
}

/** Why the model stopped. */
export type StopReason = 'end' | 'tools' | 'length' | 'refusal'

/** Token counts as in the event model: `input` excludes cached tokens, `output` includes `reasoning`. */
export interface Tokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/**
 * A fault of the server. `after` is the number of pieces before it; 1 by default. With 0, `drop` and `stall` happen before
 * the headers. `times` is the number of calls that it affects; all by default.
 */
export type Fault = {
  /** The number of calls that the fault affects; all by default. */
  readonly times?: number
} & (
  | {
      /** Responds with an HTTP error. */
      readonly kind: 'status'
      readonly status: number
      readonly message?: string
      readonly retryAfterSeconds?: number
      /** More headers of the response, such as those with the limits of an account. */
      readonly headers?: Readonly<Record<string, string>>
      /** Replaces the error body of the vendor. */
      readonly body?: unknown
    }
  /** Breaks the connection. */
  | { readonly kind: 'drop'; readonly after?: number }
  /** Ends the stream early, without an error. */
  | { readonly kind: 'truncate'; readonly after?: number }
  /** Sends a message that is not JSON, then the rest. */
  | { readonly kind: 'garble'; readonly after?: number }
  /** Sends the vendor's own error message inside the stream. */
  | { readonly kind: 'error'; readonly after?: number; readonly message?: string }
  /** Pauses until `release()` is called or for a time, then sends the rest. */
  | { readonly kind: 'stall'; readonly after?: number; readonly ms?: number }
)

/** The purposes of tool calls, independent of the names of the tools. */
export interface Actions {
  /** Runs a command. `escalate` requests rights beyond the sandbox, if the program has such a request. */
  shell: { readonly command: string; readonly escalate?: boolean }
  write: { readonly path: string; readonly content: string }
  edit: { readonly path: string; readonly from: string; readonly to: string }
  read: { readonly path: string }
  plan: { readonly items: readonly ScriptedPlanItem[] }
  /** Gives a task to a sub-agent. Its conversation is separate and needs its own marker in the task. */
  delegate: { readonly task: string }
  /** Waits for the sub-agent, in programs where `delegate` does not wait. */
  join: Record<never, never>
  ask: { readonly question: string; readonly options: readonly string[] }
  /** Shows a plan and asks for approval. */
  propose: { readonly plan: string }
  mcp: { readonly server: string; readonly tool: string; readonly input: object }
}

export interface ScriptedPlanItem {
  readonly text: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

/** A tool call by its purpose, for example `{ do: 'shell', command: 'ls' }`. Works with every program. */
export type Action = { [Do in keyof Actions]: Purpose<Do> & Actions[Do] }[keyof Actions]

interface Purpose<Do extends keyof Actions> {
  /** The purpose of the call. */
  readonly do: Do
}

/** A tool call by the program's own name of the tool. */
export interface NativeCall {
  /** The program's own name of the tool. */
  readonly name: string
  /** The arguments; a string for tools that take free text, such as Codex's `apply_patch`. */
  readonly input: object | string
  /** The namespace of the tool, for APIs that have one. */
  readonly namespace?: string
}
