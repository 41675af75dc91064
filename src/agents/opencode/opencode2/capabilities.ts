import type { Capabilities } from '../../../model/index.ts'
import { NO_CAPABILITIES } from '../../kit/no-capabilities.ts'

export const CAPABILITIES: Capabilities = {
  ...NO_CAPABILITIES,
  deltas: true,
  thinking: 'raw',
  permissions: true,
  questions: true,
  interrupt: 'protocol',
  steer: 'folded',
  resume: true,
  images: true,
  setModel: true,
  setMode: true,
  usage: 'step',
  cost: true,
  diffs: true,
  subagents: true,
  mcp: true,
  verbs: ['compact'],
  // A broken answer is kept and fails the turn; one that is retried was never shown.
  marksRetries: true,
}
