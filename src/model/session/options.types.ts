// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { ContinuationCaps, OnLimit } from './continuation.types.ts'

/**
 * The name of a model. Model names reach an argv: a letter or digit first, no spaces, no control characters.
 * Some agents add an effort in brackets or a provider in parentheses.
 */
export type ModelName = string

/** An agent's own name of a mode. It reaches an argv: no flag, no control or invisible characters. */
export type ModeName = string

/** A Model Context Protocol server: a command that the agent starts, or a URL that it connects to. */
export type McpServer = {
  /** The program to start. */
  command?: string | undefined
  /** The arguments of the program. */
  args?: string[] | undefined
  /** The URL of a remote server. */
  url?: string | undefined
  /** HTTP headers for a remote server. */
  headers?: Record<string, string> | undefined
  /** Environment variables of the program. */
  env?: Record<string, string> | undefined
  /** Runs the tools of this server without asking. */
  trust?: boolean | undefined
  /** Offers only these tools of the server. */
  includeTools?: string[] | undefined
  /** Hides these tools of the server. */
  excludeTools?: string[] | undefined
}

/** An image of a prompt. */
export type Image = {
  /** The media type, such as `image/png`. */
  mimeType: string
  /** The bytes in base64. */
  data: string
}

/** Variables of a process by name. */
export type Variables = Record<string, string>

/**
 * The settings that the agent loads: `user` all, `no-project` all but those of the repository, `bare` none.
 */
export type Isolation = 'user' | 'no-project' | 'bare'

/**
 * A command that decides on tool calls: it reads the request as JSON on stdin; exit code 0 allows, all else
 * denies.
 */
export type ToolHook = {
  /** The program and its arguments. */
  command: string[]
  /** Milliseconds to wait; a timeout denies. */
  timeoutMs?: number | undefined
}

/** Changes of the agent's system prompt. */
export type SystemPrompt = {
  /** Text to add to the agent's own system prompt. */
  append?: string | undefined
  /** Text to use instead of the agent's own system prompt. */
  replace?: string | undefined
}

/** Commands that run at points of a session. */
export type SessionHooks = {
  /** Decides on every tool call that the agent asks about. */
  beforeToolCall?: ToolHook | undefined
}

/** A sub-agent that the agent may use in this session. */
export type SubagentDefinition = {
  /** When the agent should use it. */
  description: string
  /** Its instructions. */
  prompt: string
  /** Its model; by default that of the session. */
  model?: ModelName | undefined
}

/** Options of a session. An option that the agent does not support is refused before the agent starts. */
export type SessionOptions = {
  /** The model to use. */
  model?: ModelName | undefined
  /** The model to use while the other one is overloaded. */
  fallbackModel?: ModelName | undefined
  /** The agent's own name of a reasoning effort. */
  effort?: string | undefined
  /** Changes of the agent's system prompt. */
  systemPrompt?: SystemPrompt | undefined
  /** Directories that the agent may use besides its working directory. */
  extraDirectories?: string[] | undefined
  /** Model Context Protocol servers by name. */
  mcpServers?: Record<string, McpServer> | undefined
  /** Sub-agents by name, besides those of the agent and its settings. */
  subagents?: Record<string, SubagentDefinition> | undefined
  /** Directories of skills, each with a file `SKILL.md`, besides those of the settings. */
  skills?: string[] | undefined
  /** Environment variables for the agent's process. */
  env?: Variables | undefined
  /** The settings that the agent loads. */
  isolation?: Isolation | undefined
  /** Images for the first prompt. */
  images?: Image[] | undefined
  /** A JSON Schema that the final answer must follow. */
  outputSchema?: Record<string, unknown> | undefined
  /**
   * Saves the files before the agent changes them, so that `rewind` can restore them. Claude Code does so by
   * default.
   */
  checkpointing?: boolean | undefined
  /** Commands that run at points of the session. */
  hooks?: SessionHooks | undefined
  /**
   * `continue`: when the process or the server of a turn goes away, the session continues by itself; `fail`
   * by default.
   */
  onLost?: 'fail' | 'continue' | undefined
  /**
   * What happens when a usage limit ends a turn: `fail` by default; `wait` continues by itself after the
   * limit has reset.
   */
  onLimit?: OnLimit | undefined
  /** Caps for `onLost` and `onLimit`. */
  continuations?: ContinuationCaps | undefined
}
