import type { Policy } from 'mainstem/client'

export const APPROVALS: Record<Policy['approval'], string> = {
  ask: 'Ask me for everything',
  'ask-dangerous': 'Ask me for dangerous calls',
  'auto-edit': 'Allow edits, ask for commands',
  'auto-all': 'Allow everything',
}

/** The ways to ask, the strictest first. */
export const APPROVAL_CHOICES = (Object.keys(APPROVALS) as Policy['approval'][]).map((value) => ({
  value,
  name: APPROVALS[value],
}))

/** Whether one way to ask comes before another: what it allows, the other allows too. */
export function isStricter(approval: Policy['approval'], than: Policy['approval']): boolean {
  const order = APPROVAL_CHOICES.map(({ value }) => value)
  return order.indexOf(approval) < order.indexOf(than)
}

export const SANDBOXES: Record<Policy['sandbox'], string> = {
  none: "The agent's default",
  'read-only': 'Read only',
  'workspace-write': 'Write in the workspace',
  'full-access': 'Full access',
}
