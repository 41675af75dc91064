import { checkCallback, checkFields, checkSignal } from '../model/text/known-fields.ts'
import type { AgentOptions } from './adapter.ts'

const OPTIONS: Record<keyof AgentOptions, true> = {
  cwd: true,
  model: true,
  permissionTier: true,
  permissionMode: true,
  maxTurns: true,
  maxBudgetUsd: true,
  resume: true,
  abortSignal: true,
  allowedTools: true,
  disallowedTools: true,
  canUseTool: true,
  images: true,
  effort: true,
  outputSchema: true,
  mcpServers: true,
}

/** Refuses unknown options, and callbacks and signals that are none. The session validates the others. */
export function checkOptions(options: AgentOptions): void {
  checkFields(options, Object.keys(OPTIONS), 'options')
  checkSignal(options.abortSignal, 'abortSignal')
  checkCallback(options.canUseTool, 'canUseTool')
}
