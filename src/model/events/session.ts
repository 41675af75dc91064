import { z } from 'zod'
import { Capabilities, LaunchKind } from '../capability.ts'
import { ErrorInfo } from '../errors.ts'
import { SessionName } from '../ids.ts'
import { Policy } from '../policy.ts'

const Named = z.strictObject({
  id: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
})
export type Named = z.infer<typeof Named>

export const ConfigOption = z.strictObject({
  id: z.string(),
  name: z.string().optional(),
  category: z.string().optional(),
  value: z.unknown().optional(),
  choices: z.array(Named).optional(),
})
export type ConfigOption = z.infer<typeof ConfigOption>

export const SessionStarted = z.strictObject({
  type: z.literal('session.started'),
  agent: z.string(),
  launch: LaunchKind,
  cwd: z.string(),
  project: z.string().optional().describe('the project that the client named'),
  name: SessionName.optional().describe('the name that the client gave the session'),
  policy: Policy,
  capabilities: Capabilities,
  model: z.string().optional().describe('the model asked for'),
  resumedFrom: z.string().optional(),
})
export type SessionStarted = z.infer<typeof SessionStarted>

/** Only what changed. The agent's handshake is the first of these. */
export const SessionUpdated = z.strictObject({
  type: z.literal('session.updated'),
  nativeSessionId: z.string().optional(),
  agentVersion: z.string().optional(),
  model: z.string().optional(),
  models: z.array(Named).optional(),
  tools: z.array(z.string()).optional(),
  policy: Policy.optional().describe('the policy that holds from now on'),
  mode: z.string().optional(),
  modes: z.array(Named).optional(),
  title: z.string().optional(),
  commands: z.array(z.string()).optional(),
  configOptions: z.array(ConfigOption).optional(),
})
export type SessionUpdated = z.infer<typeof SessionUpdated>

export const SessionEnded = z.strictObject({
  type: z.literal('session.ended'),
  reason: z.enum(['completed', 'failed', 'cancelled', 'timeout', 'lost']),
  error: ErrorInfo.optional(),
})
export type SessionEnded = z.infer<typeof SessionEnded>
