import { type Limit, refused } from './limit.ts'

const UNANSWERED = 'It has no way to ask while it runs: what needs an answer is refused.'

/** Recordings of a program that would have to ask, with nobody to answer. */
const REFUSALS = [
  { programs: ['claude', 'claude-old'], evidence: 'src/agents/claude/fixtures/claude/perm_denied' },
  { programs: ['codex'], evidence: 'src/agents/codex/fixtures/codex/esc_headless' },
  { programs: ['gemini'], evidence: 'src/agents/gemini/fixtures/gemini/denied_default_bash' },
  { programs: ['opencode'], evidence: 'src/agents/opencode/fixtures/opencode/perm_ask_bash' },
]

/** What a run of a single process cannot do, whatever the program. */
export const ONESHOT_LIMITS: readonly Limit[] = [
  ...REFUSALS.map((refusal) => ({
    ...refusal,
    scenarios: ['allow', 'deny', 'allow-session', 'question', 'proposal'],
    launch: 'oneshot' as const,
    reason: UNANSWERED,
    seen: /^nobody was asked/,
  })),
  {
    scenarios: ['steer'],
    launch: 'oneshot',
    reason: 'It reads one prompt, and its input is closed then; refused before it is tried.',
    seen: refused('steer'),
  },
  {
    scenarios: ['set-mode'],
    programs: ['opencode'],
    launch: 'oneshot',
    reason: 'Its modes are agents, and stand for no policy; refused before it is tried.',
    seen: refused('setMode'),
    ours: true,
  },
]
