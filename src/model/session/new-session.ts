import * as z from 'zod'
import { NativeSessionId, OUTSIDE_ID, SessionName } from '../ids.ts'
import { LaunchKind } from './capability.ts'
import type * as types from './new-session.types.ts'
import { SessionOptions, Variables } from './options.ts'
import { Policy } from './policy.ts'

/** A session to create, as every interface asks for it. */
export const NewSession = z.strictObject({
  agent: z.string().regex(OUTSIDE_ID, 'not an agent id').describe('The id of the agent.'),
  launch: LaunchKind.optional().describe(
    'How to run the agent; `live` by default, or `oneshot` if only that supports the options and nothing needs approval.',
  ),
  prefers: LaunchKind.optional().describe(
    'The preferred launch if `launch` is absent and the agent has both; `live` by default.',
  ),
  principal: z.string().optional().describe('The owner of the session.'),
  cwd: z.string().min(1, 'must not be empty').max(4096).describe("The agent's working directory."),
  project: z
    .string()
    .optional()
    .describe('A label of the client for its project; stored and reported, without effect.'),
  name: SessionName.optional().describe('a name by which people find the session again'),
  policy: Policy.optional().describe('What the agent may do.'),
  options: SessionOptions.optional().describe('Options such as the model and MCP servers.'),
  resume: NativeSessionId.optional().describe("The agent's own id of a conversation to continue."),
  fork: z
    .boolean()
    .optional()
    .describe(
      'With `resume`: continues a copy of the conversation. The conversation itself does not change.',
    ),
  labels: z
    .array(z.string().regex(OUTSIDE_ID))
    .max(20)
    .optional()
    .describe('only a node with all of these labels runs the session'),
  single: z
    .boolean()
    .optional()
    .describe('True if the session has a single task: the node that runs it ends it with its first turn.'),
  keys: Variables.optional().describe(
    "Variables of the caller that replace the server's own of the same name, such as API keys. The agent gets only those that it would get from the server. They are kept in memory, and in the folder of a run while its process lives; no log has them.",
  ),
  attended: z.boolean().optional().describe('false: requests are denied, because no person can answer them'),
})
export type NewSession = types.NewSession
