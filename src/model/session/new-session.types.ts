// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { NativeSessionId, SessionName } from '../ids.types.ts'
import type { LaunchKind } from './capability.types.ts'
import type { SessionOptions, Variables } from './options.types.ts'
import type { Policy } from './policy.types.ts'

/** A session to create, as every interface asks for it. */
export type NewSession = {
  /** The id of the agent. */
  agent: string
  /**
   * How to run the agent; `live` by default, or `oneshot` if only that supports the options and nothing needs
   * approval.
   */
  launch?: LaunchKind | undefined
  /** The preferred launch if `launch` is absent and the agent has both; `live` by default. */
  prefers?: LaunchKind | undefined
  /** The owner of the session. */
  principal?: string | undefined
  /** The agent's working directory. */
  cwd: string
  /** A label of the client for its project; stored and reported, without effect. */
  project?: string | undefined
  /** a name by which people find the session again */
  name?: SessionName | undefined
  /** What the agent may do. */
  policy?: Policy | undefined
  /** Options such as the model and MCP servers. */
  options?: SessionOptions | undefined
  /** The agent's own id of a conversation to continue. */
  resume?: NativeSessionId | undefined
  /** With `resume`: continues a copy of the conversation. The conversation itself does not change. */
  fork?: boolean | undefined
  /** only a node with all of these labels runs the session */
  labels?: string[] | undefined
  /** True if the session has a single task: the node that runs it ends it with its first turn. */
  single?: boolean | undefined
  /**
   * Variables of the caller that replace the server's own of the same name, such as API keys. The agent gets
   * only those that it would get from the server. They are kept in memory, and in the folder of a run while
   * its process lives; no log has them.
   */
  keys?: Variables | undefined
  /** false: requests are denied, because no person can answer them */
  attended?: boolean | undefined
}
