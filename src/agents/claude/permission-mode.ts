import type { Policy } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import { type PolicyModes, policyMode } from '../kit/policy-mode.ts'

export const BYPASS_MODE = 'bypassPermissions'

/** Maps approval × sandbox to a permission mode of Claude; it has no configurable sandbox. */
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

/** The initial mode of a process: the chosen one, except that permissions are bypassed only if the policy allows it. */
export function startMode({ policy, mode }: Start): string {
  const byPolicy = permissionMode(policy)
  return mode === undefined || mode === BYPASS_MODE ? byPolicy : mode
}
