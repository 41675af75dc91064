import type { Limit } from './limit.ts'

export const CLAUDE_LIMITS: readonly Limit[] = [
  {
    scenarios: ['steer'],
    programs: ['claude-old'],
    launch: 'live',
    reason: 'This version takes the prompt, and does not say that it joined the turn.',
    seen: /^it was not told that it joined the turn$/,
    evidence: 'src/agents/claude/fixtures/claude-2.1.197/bidi_steer_tool',
  },
]
