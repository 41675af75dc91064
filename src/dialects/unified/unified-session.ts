import type { SessionStarted } from '../../model/events/session.ts'
import type { Approval, Sandbox } from '../../model/index.ts'
import type { ApprovalMode, SandboxMode } from './unified-config.ts'
import type { Body } from './unified-event.ts'

const APPROVAL_MODES: Record<Approval, ApprovalMode> = {
  ask: 'ask',
  'ask-dangerous': 'askDangerous',
  'auto-edit': 'autoEdit',
  'auto-all': 'autoAll',
}

const SANDBOX_MODES: Record<Sandbox, SandboxMode> = {
  none: 'none',
  'read-only': 'readOnly',
  'workspace-write': 'workspaceWrite',
  'full-access': 'fullAccess',
}

export function sessionStarted({ agent, cwd, project, model, policy }: SessionStarted): Body {
  const { approval, sandbox, tools, maxSteps } = policy
  return {
    type: 'sessionStarted',
    agentType: agent,
    config: {
      agentType: agent,
      ...(project !== undefined && { projectId: project }),
      workingDirectory: cwd,
      ...(model !== undefined && { model }),
      approvalMode: APPROVAL_MODES[approval],
      sandboxMode: SANDBOX_MODES[sandbox],
      ...(tools?.preapproved && { allowedTools: tools.preapproved }),
      ...(tools?.denied && { blockedTools: tools.denied }),
      ...(maxSteps !== undefined && { maxTurns: maxSteps }),
    },
  }
}
