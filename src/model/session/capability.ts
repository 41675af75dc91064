import * as z from 'zod'
import type * as types from './capability.types.ts'

/** `live` keeps one process open for many turns; `oneshot` starts a process for each turn. */
export const LaunchKind = z.enum(['live', 'oneshot'])
export type LaunchKind = types.LaunchKind

/**
 * A command that agents have in their own terminals. `fork`: continues a copy of the conversation. `compact`: replaces the
 * conversation by a summary. `review`: reviews the uncommitted changes. `goal`: works on a goal, in as many turns as it
 * needs. `rewind`: restores the files as they were before a turn.
 */
export const Verb = z.enum(['fork', 'compact', 'review', 'goal', 'rewind'])
export type Verb = types.Verb

/** The features of one launch of an agent. Declared as data beside the launch and verified by conformance runs. */
export const Capabilities = z.strictObject({
  deltas: z.boolean().describe('Text arrives in pieces.'),
  thinking: z.enum(['none', 'summary', 'raw']).describe('How much of its reasoning the agent shows.'),
  permissions: z.boolean().describe('The agent asks before it runs a tool and accepts the answer.'),
  questions: z.boolean().describe('The agent can ask questions with options.'),
  planApproval: z.boolean().describe('The agent can ask for approval of a plan.'),
  interrupt: z
    .enum(['protocol', 'signal'])
    .describe('How a turn is interrupted: by a message, or by a signal that ends the process.'),
  steer: z
    .enum(['none', 'folded', 'restarted'])
    .describe(
      'The effect of a prompt in an open turn: refused, read by the agent as it works, or a new start.',
    ),
  resume: z.boolean().describe('The agent can continue an earlier conversation.'),
  images: z.boolean().describe('Prompts may contain images.'),
  structuredOutput: z.boolean().describe('The agent accepts a JSON Schema for its answer.'),
  setModel: z.boolean().describe('The model can change during a session.'),
  setMode: z.boolean().describe('The mode can change during a session.'),
  usage: z
    .enum(['none', 'step', 'turn'])
    .describe('The finest scope of the token counts that the agent reports.'),
  cost: z.boolean().describe('The agent reports its cost.'),
  diffs: z.boolean().describe('The agent reports file changes with their content.'),
  plans: z.boolean().describe('The agent reports its plan.'),
  subagents: z.boolean().describe('The agent reports its sub-agents.'),
  mcp: z.boolean().describe('The agent accepts MCP servers.'),
  verbs: z
    .array(Verb)
    .optional()
    .describe('The commands of its own terminal that the agent accepts; none if absent.'),
  marksRetries: z.boolean().describe('The agent marks a message that it repeats after a broken stream.'),
})
export type Capabilities = types.Capabilities
