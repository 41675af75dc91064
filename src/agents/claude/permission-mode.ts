import type { Policy } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import { unsupported } from '../option.ts'

export const BYPASS_MODE = 'bypassPermissions'

/** Approval × sandbox as one of Claude's permission modes; it has no sandbox that we could ask for. */
export function permissionMode({ approval, sandbox }: Policy): string {
  if (sandbox === 'workspace-write')
    throw unsupported('claude', 'sandbox workspace-write', 'it has no such sandbox')
  if (sandbox === 'read-only') {
    if (approval === 'auto-edit')
      throw unsupported('claude', 'auto-edit with read-only', 'they contradict each other')
    return 'plan'
  }
  switch (approval) {
    case 'ask':
    case 'ask-dangerous':
      return 'default'
    case 'auto-edit':
      return 'acceptEdits'
    case 'auto-all':
      return BYPASS_MODE
    default:
      return approval satisfies never
  }
}

/** The mode that a process starts in: the chosen one, but permissions are bypassed only where the policy says so. */
export function startMode({ policy, mode }: Start): string {
  const byPolicy = permissionMode(policy)
  return mode === undefined || mode === BYPASS_MODE ? byPolicy : mode
}
