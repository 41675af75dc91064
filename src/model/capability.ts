import { z } from 'zod'

export const LaunchKind = z.enum(['live', 'oneshot'])
export type LaunchKind = z.infer<typeof LaunchKind>

/** What one launch of an agent can do. Stated as data beside the launch, proven by conformance runs. */
export const Capabilities = z.strictObject({
  deltas: z.boolean().describe('text arrives in pieces'),
  thinking: z.enum(['none', 'summary', 'raw']),
  permissions: z.boolean().describe('asks before a tool runs and takes the answer'),
  questions: z.boolean(),
  planApproval: z.boolean(),
  interrupt: z.enum(['protocol', 'signal']),
  steer: z.enum(['none', 'folded', 'restarted']),
  resume: z.boolean(),
  images: z.boolean(),
  structuredOutput: z.boolean(),
  setModel: z.boolean(),
  setMode: z.boolean(),
  usage: z.enum(['none', 'step', 'turn']).describe('the finest scope it reports'),
  cost: z.boolean(),
  diffs: z.boolean(),
  plans: z.boolean(),
  subagents: z.boolean(),
  mcp: z.boolean(),
  marksRetries: z.boolean().describe('a message repeated after a broken stream is told apart'),
})
export type Capabilities = z.infer<typeof Capabilities>
