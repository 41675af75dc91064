import type { Policy } from 'mainstem/client'

export const APPROVALS: Record<Policy['approval'], string> = {
  ask: 'Ask me for everything',
  'ask-dangerous': 'Ask me for dangerous calls',
  'auto-edit': 'Allow edits, ask for commands',
  'auto-all': 'Allow everything',
}

export const SANDBOXES: Record<Policy['sandbox'], string> = {
  none: "The agent's default",
  'read-only': 'Read only',
  'workspace-write': 'Write in the workspace',
  'full-access': 'Full access',
}
