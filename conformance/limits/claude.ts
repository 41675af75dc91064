import type { Limit } from './limit.ts'

export const CLAUDE_LIMITS: readonly Limit[] = [
  {
    scenarios: ['subagent-events'],
    programs: ['claude-old'],
    launch: 'live',
    reason: 'This version forwards the tool calls of a sub-agent and not its text.',
    seen: /^its text is not reported, and its summary is "A job of its own"$/,
  },
]
