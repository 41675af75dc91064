// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** The kind of a tool, the same for every agent. Policies and displays branch on it. */
export type ToolKind =
  | 'read'
  | 'edit'
  | 'delete'
  | 'move'
  | 'search'
  | 'execute'
  | 'think'
  | 'fetch'
  | 'mcp'
  | 'task'
  | 'other'

/** How a tool call ended. `unknown`: the turn succeeded and the agent did not report the end of the call. */
export type ToolStatus = 'success' | 'error' | 'denied' | 'cancelled' | 'unknown'

/** Who denied a tool call. */
export type DeniedBy = 'person' | 'policy' | 'hook' | 'agent'

/** A place in a file. */
export type Location = {
  /** The path of the file. */
  path: string
  /** The line number that the agent reports. */
  line?: number | undefined
}
