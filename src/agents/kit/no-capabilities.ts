import type { Capabilities } from '../../model/index.ts'

/** An agent that takes a prompt and answers it. One that can do more names it beside these. */
export const NO_CAPABILITIES: Capabilities = {
  deltas: false,
  thinking: 'none',
  permissions: false,
  questions: false,
  planApproval: false,
  interrupt: 'signal',
  steer: 'none',
  resume: false,
  images: false,
  structuredOutput: false,
  setModel: false,
  setMode: false,
  usage: 'none',
  cost: false,
  diffs: false,
  plans: false,
  subagents: false,
  mcp: false,
  marksRetries: false,
}
