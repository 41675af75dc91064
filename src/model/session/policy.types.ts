// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/**
 * The requests that Mainstem approves without asking a person. `ask`: none. `ask-dangerous`: reads, searches
 * and edits inside the workspace. `auto-edit`: also deleting and moving files there. `auto-all`: everything.
 */
export type Approval = 'ask' | 'ask-dangerous' | 'auto-edit' | 'auto-all'

/** The agent's sandbox. `none` keeps the agent's own default; `full-access` switches its sandbox off. */
export type Sandbox = 'none' | 'read-only' | 'workspace-write' | 'full-access'

/** Rules for tools, by canonical names (`execute`, `mcp:docs/search`) or by the agent's own. */
export type ToolPolicy = {
  /** Removes all other tools. */
  available?: string[] | undefined
  /** Tools that run without asking. */
  preapproved?: string[] | undefined
  /** Tools that never run. */
  denied?: string[] | undefined
}

/**
 * What an agent may do in a session. A rule that the agent cannot enforce is refused before the agent starts.
 */
export type Policy = {
  /** The requests that are approved without asking a person. */
  approval: Approval
  /** The agent's sandbox. */
  sandbox: Sandbox
  /** Whether sandboxed commands may use the network. */
  network?: boolean | undefined
  /** Directories that sandboxed commands may write to, besides the workspace. */
  writableRoots?: string[] | undefined
  /** Rules for single tools. */
  tools?: ToolPolicy | undefined
  /** The most model calls of the main thread in one turn; the turn stops before the next one. */
  maxSteps?: number | undefined
  /** The highest cost of one turn, sub-agents included. */
  maxBudgetUsd?: number | undefined
  /** The longest duration of one turn, in milliseconds. */
  timeoutMs?: number | undefined
  /** The longest silence inside a turn, in milliseconds. */
  idleTimeoutMs?: number | undefined
}
