import type { Policy } from '../../model/index.ts'
import { unsupported } from './option.ts'

/** The modes of an agent with one mode for approval and sandbox together, and no selectable sandbox. */
export interface PolicyModes<Mode extends string> {
  agent: string
  /** Why the sandbox `workspace-write` is rejected. */
  noWorkspaceWrite: string
  byApproval: Readonly<Record<Policy['approval'], Mode>>
  readOnly: Mode
}

/** Maps approval × sandbox to a mode, and rejects combinations that no mode enforces. */
export function policyMode<Mode extends string>(
  { approval, sandbox }: Policy,
  { agent, noWorkspaceWrite, byApproval, readOnly }: PolicyModes<Mode>,
): Mode {
  if (sandbox === 'workspace-write') throw unsupported(agent, 'sandbox workspace-write', noWorkspaceWrite)
  if (sandbox !== 'read-only') return byApproval[approval]
  if (approval === 'auto-edit')
    throw unsupported(agent, 'auto-edit with read-only', 'they contradict each other')
  return readOnly
}
