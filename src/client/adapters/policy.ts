import type { Approval, Policy, Sandbox } from '../../model/index.ts'
import type { ApprovalMode, SandboxMode, SessionConfig } from '../config.ts'

const APPROVALS: Readonly<Record<ApprovalMode, Approval>> = {
  ask: 'ask',
  askDangerous: 'ask-dangerous',
  autoEdit: 'auto-edit',
  autoAll: 'auto-all',
}

const SANDBOXES: Readonly<Record<SandboxMode, Sandbox>> = {
  none: 'none',
  readOnly: 'read-only',
  workspaceWrite: 'workspace-write',
  fullAccess: 'full-access',
}

/** The policy of a configuration. */
export function policyOf({
  approvalMode = 'ask',
  sandboxMode = 'none',
  allowedTools,
  blockedTools,
  maxTurns,
}: SessionConfig): Policy {
  const tools = {
    ...(allowedTools && { preapproved: [...allowedTools] }),
    ...(blockedTools && { denied: [...blockedTools] }),
  }
  return {
    approval: APPROVALS[approvalMode],
    sandbox: SANDBOXES[sandboxMode],
    ...((allowedTools || blockedTools) && { tools }),
    ...(maxTurns !== undefined && { maxSteps: maxTurns }),
  }
}
