import type { Limit } from './limit.ts'

export const CLAUDE_LIMITS: readonly Limit[] = [
  {
    scenarios: ['subagent-events'],
    programs: ['claude-old'],
    reason: 'This version forwards the tool calls of a sub-agent and not its text.',
    seen: /^its text is not reported, and its summary is "A job of its own"$/,
  },
  {
    scenarios: ['cost'],
    programs: ['claude-old'],
    launch: 'oneshot',
    reason:
      'A resumed process of this version reports the cost of the whole conversation, so the cost of its first turn is unknown.',
    seen: /^no cost in /,
  },
]
