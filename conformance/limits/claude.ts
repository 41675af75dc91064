import type { Limit } from './limit.ts'

export const CLAUDE_LIMITS: readonly Limit[] = [
  {
    scenarios: ['steer'],
    programs: ['claude-old'],
    launch: 'live',
    reason: 'This version accepts the message and does not report that it joined the turn.',
    seen: /^no event reports that the message joined the turn$/,
    evidence: 'src/agents/claude/fixtures/claude-2.1.197/bidi_steer_tool',
  },
]
