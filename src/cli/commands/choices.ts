import type { AuditAction } from '../../model/access.ts'
import type { Approval, LaunchKind, OnLimit, Sandbox, SessionOptions } from '../../model/index.ts'

/** The values of options. Written out, because `--help` and most commands should not load the whole model. */
export const APPROVALS = ['ask', 'ask-dangerous', 'auto-edit', 'auto-all'] as const satisfies Approval[]
export const SANDBOXES = ['none', 'read-only', 'workspace-write', 'full-access'] as const satisfies Sandbox[]
export const LAUNCHES = ['oneshot', 'live'] as const satisfies LaunchKind[]
export const ON_LOST = ['fail', 'continue'] as const satisfies SessionOptions['onLost'][]
export const DIALECTS = ['mainstem', 'execute', 'ues', 'daemon', 'board', 'unified'] as const

/** What `ls` can be limited to. `failed` is every end of a turn that needs a look: also denied, crashed and lost. */
export const STATES = ['asking', 'working', 'failed', 'idle', 'ended'] as const

/** What the audit trail can be limited to. */
export const AUDIT_ACTIONS = [
  'session.created',
  'session.forked',
  'session.resumed',
  'session.renamed',
  'session.ended',
  'session.exported',
  'session.imported',
  'session.deleted',
  'prompt.sent',
  'turn.steered',
  'turn.interrupted',
  'request.answered',
  'agent.changed',
  'model.changed',
  'policy.changed',
  'token.added',
  'token.removed',
  'grant.added',
  'grant.removed',
  'webhook.added',
  'webhook.changed',
  'webhook.removed',
] as const satisfies AuditAction[]

/** What happens at a usage limit: `fail`, `wait`, or the agent that continues. */
export function onLimit(value: string): OnLimit {
  return value === 'fail' || value === 'wait' ? value : { continueAs: value }
}
