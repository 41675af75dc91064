// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** `live` keeps one process open for many turns; `oneshot` starts a process for each turn. */
export type LaunchKind = 'live' | 'oneshot'

/**
 * A command that agents have in their own terminals. `fork`: continues a copy of the conversation. `compact`:
 * replaces the conversation by a summary. `review`: reviews the uncommitted changes. `goal`: works on a goal,
 * in as many turns as it needs. `rewind`: restores the files as they were before a turn.
 */
export type Verb = 'fork' | 'compact' | 'review' | 'goal' | 'rewind'

/**
 * The features of one launch of an agent. Declared as data beside the launch and verified by conformance
 * runs.
 */
export type Capabilities = {
  /** Text arrives in pieces. */
  deltas: boolean
  /** How much of its reasoning the agent shows. */
  thinking: 'none' | 'summary' | 'raw'
  /** The agent asks before it runs a tool and accepts the answer. */
  permissions: boolean
  /** The agent can ask questions with options. */
  questions: boolean
  /** The agent can ask for approval of a plan. */
  planApproval: boolean
  /** How a turn is interrupted: by a message, or by a signal that ends the process. */
  interrupt: 'protocol' | 'signal'
  /** The effect of a prompt in an open turn: refused, read by the agent as it works, or a new start. */
  steer: 'none' | 'folded' | 'restarted'
  /** The agent can continue an earlier conversation. */
  resume: boolean
  /** Prompts may contain images. */
  images: boolean
  /** The agent accepts a JSON Schema for its answer. */
  structuredOutput: boolean
  /** The model can change during a session. */
  setModel: boolean
  /** The mode can change during a session. */
  setMode: boolean
  /** The finest scope of the token counts that the agent reports. */
  usage: 'none' | 'step' | 'turn'
  /** The agent reports its cost. */
  cost: boolean
  /** The agent reports file changes with their content. */
  diffs: boolean
  /** The agent reports its plan. */
  plans: boolean
  /** The agent reports its sub-agents. */
  subagents: boolean
  /** The agent accepts MCP servers. */
  mcp: boolean
  /** The commands of its own terminal that the agent accepts; none if absent. */
  verbs?: Verb[] | undefined
  /** The agent marks a message that it repeats after a broken stream. */
  marksRetries: boolean
}
