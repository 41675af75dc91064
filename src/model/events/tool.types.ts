// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { BlobRef } from '../blob.types.ts'
import type { DeniedBy, Location, ToolKind, ToolStatus } from '../request/tool.types.ts'

/**
 * A piece of the input of a tool call, while the model writes it. Discard it if no `tool.started` follows.
 */
export type ToolInputDelta = {
  /** Narrows the union. */
  type: 'tool.input.delta'
  /** Identifies the tool call; all events of the call share the id. */
  toolId: string
  /** The agent's own name of the tool. */
  name: string
  /** The message that contains the call. */
  messageId?: string | undefined
  /** The new text of the input only, usually incomplete JSON. */
  delta: string
  /** The id of the sub-agent that calls; absent on the main thread. */
  parent?: string | undefined
}

/** A tool call with its complete input. The tool may still need a decision before it runs. */
export type ToolStarted = {
  /** Narrows the union. */
  type: 'tool.started'
  /** Identifies the tool call; all events of the call share the id. */
  toolId: string
  /** The agent's own name of the tool. */
  name: string
  /** The kind of tool, the same for every agent. */
  kind: ToolKind
  /** A one-line summary for people. */
  title?: string | undefined
  /** The input, in the format of the agent. */
  input?: unknown
  /** The files that the call concerns. */
  locations?: Location[] | undefined
  /** The message that contains the call. */
  messageId?: string | undefined
  /** The id of the sub-agent that calls; absent on the main thread. */
  parent?: string | undefined
}

/** A correction of a tool call that started, with the changed fields only. */
export type ToolUpdated = {
  /** Narrows the union. */
  type: 'tool.updated'
  /** Identifies the tool call; all events of the call share the id. */
  toolId: string
  /** A one-line summary for people. */
  title?: string | undefined
  /** The kind of tool. */
  kind?: ToolKind | undefined
  /** The input, in the format of the agent. */
  input?: unknown
  /** The files that the call concerns. */
  locations?: Location[] | undefined
}

/** Output or progress of a tool that is running. */
export type ToolProgressed = {
  /** Narrows the union. */
  type: 'tool.progressed'
  /** Identifies the tool call; all events of the call share the id. */
  toolId: string
  /** The new output only. */
  output?: string | undefined
  /** The agent's message about the progress. */
  message?: string | undefined
  /** Milliseconds since the tool started. */
  elapsedMs?: number | undefined
  /** The completed fraction, from 0 to 1. */
  progress?: number | undefined
}

/** The end of a tool call. Every `tool.started` has exactly one. */
export type ToolCompleted = {
  /** Narrows the union. */
  type: 'tool.completed'
  /** Identifies the tool call; all events of the call share the id. */
  toolId: string
  /** The agent's own name of the tool. */
  name: string
  /** The kind of tool, the same for every agent. */
  kind: ToolKind
  /** How the call ended. */
  status: ToolStatus
  /** The whole output. */
  output?: string | undefined
  /** The error message of a call that failed or was denied. */
  error?: string | undefined
  /** The exit code of a command. */
  exitCode?: number | undefined
  /** The duration that the agent reports, in milliseconds. */
  durationMs?: number | undefined
  /** Who denied the call. */
  deniedBy?: DeniedBy | undefined
  /** True if Mainstem closed the call at the end of the turn because the agent did not. */
  settled?: boolean | undefined
  /** The agent's structured result. */
  data?: unknown
  /** True if the agent truncated the output. */
  truncated?: boolean | undefined
  /** The output, if it is too large for an event. */
  blob?: BlobRef | undefined
  /** The id of the sub-agent that calls; absent on the main thread. */
  parent?: string | undefined
}

/** A file changed. Emitted after the tool succeeded, never for a proposed change. */
export type FileChanged = {
  /** Narrows the union. */
  type: 'file.changed'
  /** The path of the file. */
  path: string
  /** The kind of change. */
  change: 'created' | 'modified' | 'deleted' | 'renamed'
  /** False if the agent did not report whether the file existed; `change` is then a guess. */
  changeReported?: false | undefined
  /** The earlier path of a renamed file. */
  from?: string | undefined
  /** The change as a unified diff. */
  diff?: string | undefined
  /** The content before the change. */
  before?: string | undefined
  /** The content after the change. */
  after?: string | undefined
  /** The tool call that changed the file. */
  toolId?: string | undefined
  /** The id of the sub-agent that calls; absent on the main thread. */
  parent?: string | undefined
}
