import type { Capabilities } from '../../../model/index.ts'

export const CAPABILITIES: Capabilities = {
  deltas: true,
  thinking: 'raw',
  permissions: true,
  questions: true,
  planApproval: false,
  interrupt: 'protocol',
  steer: 'folded',
  resume: true,
  images: true,
  structuredOutput: false,
  setModel: true,
  setMode: true,
  usage: 'step',
  cost: true,
  diffs: true,
  plans: false,
  subagents: true,
  mcp: true,
  verbs: ['compact'],
  // A broken answer is kept and fails the turn; one that is retried was never shown.
  marksRetries: true,
}
