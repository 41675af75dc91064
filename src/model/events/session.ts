import * as z from 'zod'
import { SessionName } from '../ids.ts'
import { ErrorInfo } from '../outcome/errors.ts'
import { Capabilities, LaunchKind } from '../session/capability.ts'
import { Policy } from '../session/policy.ts'
import type * as types from './session.types.ts'

/** A model, a mode or another choice that the agent offers. */
export const Named = z.strictObject({
  id: z.string().describe('The id to select it with.'),
  name: z.string().optional().describe('A name for people.'),
  description: z.string().optional().describe('A description for people.'),
})
export type Named = types.Named

/** A setting of the agent that a client can show. */
export const ConfigOption = z.strictObject({
  id: z.string().describe("The agent's id of the setting."),
  name: z.string().optional().describe('A name for people.'),
  category: z.string().optional().describe("The agent's category of the setting."),
  value: z.unknown().optional().describe('The current value.'),
  choices: z.array(Named).optional().describe('The values to choose from.'),
})
export type ConfigOption = types.ConfigOption

/** The first event of every session. */
export const SessionStarted = z.strictObject({
  type: z.literal('session.started'),
  agent: z.string().describe('The id of the agent.'),
  launch: LaunchKind.describe('How the agent is run.'),
  cwd: z.string().describe("The agent's working directory."),
  project: z.string().optional().describe('The project that the client named.'),
  name: SessionName.optional().describe('The name that the client gave the session.'),
  policy: Policy.describe('The policy at the start.'),
  capabilities: Capabilities.describe('The features of this launch of the agent.'),
  model: z.string().optional().describe('The model that the client requested.'),
  resumedFrom: z.string().optional().describe("The agent's own session that this one continues."),
})
export type SessionStarted = types.SessionStarted

/** A change of the session, with the changed fields only. The agent's handshake is the first of these. */
export const SessionUpdated = z.strictObject({
  type: z.literal('session.updated'),
  nativeSessionId: z
    .string()
    .optional()
    .describe("The agent's own id of the conversation; pass it as `resume`."),
  agentVersion: z.string().optional().describe("The version of the agent's program."),
  model: z.string().optional().describe('The model in use.'),
  models: z.array(Named).optional().describe('The models to choose from.'),
  tools: z.array(z.string()).optional().describe("The agent's own names of its tools."),
  policy: Policy.optional().describe('The policy from now on.'),
  mode: z.string().optional().describe("The agent's own mode."),
  modes: z.array(Named).optional().describe("The agent's own modes to choose from."),
  title: z.string().optional().describe('A title for people.'),
  name: SessionName.nullable()
    .optional()
    .describe('The name that a client gave the session; `null` if it was removed.'),
  commands: z.array(z.string()).optional().describe("The agent's own slash commands."),
  configOptions: z.array(ConfigOption).optional().describe("The agent's own settings."),
})
export type SessionUpdated = types.SessionUpdated

/** The agent of a session before another one continued it. */
export const FormerAgent = z.strictObject({
  agent: z.string().describe('The id of the agent.'),
  launch: LaunchKind.describe('How the agent was run.'),
  model: z.string().optional().describe('The model in use.'),
  nativeSessionId: z.string().optional().describe("The agent's own id of the conversation."),
})
export type FormerAgent = types.FormerAgent

/** Another agent continues the session, in a new conversation of its own. Its first prompt begins with the recap. */
export const SessionHandedOver = z.strictObject({
  type: z.literal('session.handed_over'),
  from: FormerAgent.describe('The agent that worked on the session before.'),
  agent: z.string().describe('The id of the agent that continues.'),
  launch: LaunchKind.describe('How it is run.'),
  policy: Policy.describe('The policy from now on.'),
  capabilities: Capabilities.describe('The features of this launch of the agent.'),
  model: z.string().optional().describe('The model that the client requested.'),
  through: z.int().nonnegative().describe('The last entry that the recap covers.'),
  recap: z
    .string()
    .describe(
      'What the agent is told of the session before its first prompt. Mainstem made it from the log, by rule.',
    ),
  omitted: z.int().positive().optional().describe('The number of earlier turns that the recap leaves out.'),
})
export type SessionHandedOver = types.SessionHandedOver

/** The last event of a session. */
export const SessionEnded = z.strictObject({
  type: z.literal('session.ended'),
  reason: z
    .enum(['completed', 'failed', 'cancelled', 'timeout', 'lost'])
    .describe('Why the session ended. `lost`: the process that owned the session went away.'),
  error: ErrorInfo.optional().describe('The error that ended the session.'),
})
export type SessionEnded = types.SessionEnded
