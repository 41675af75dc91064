import type { Policy } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import { type PolicyModes, policyMode } from '../policy-mode.ts'

export const BYPASS_MODE = 'bypassPermissions'

/** Approval × sandbox as one of Claude's permission modes; it has no sandbox that we could ask for. */
export function permissionMode(policy: Policy): string {
  return policyMode(policy, MODES)
}

const MODES: PolicyModes<string> = {
  agent: 'claude',
  noWorkspaceWrite: 'it has no such sandbox',
  byApproval: {
    ask: 'default',
    'ask-dangerous': 'default',
    'auto-edit': 'acceptEdits',
    'auto-all': BYPASS_MODE,
  },
  readOnly: 'plan',
}

/** The mode that a process starts in: the chosen one, but permissions are bypassed only where the policy says so. */
export function startMode({ policy, mode }: Start): string {
  const byPolicy = permissionMode(policy)
  return mode === undefined || mode === BYPASS_MODE ? byPolicy : mode
}
