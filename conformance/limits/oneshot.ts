import { type Limit, refused } from './limit.ts'

const UNANSWERED = 'A one-shot process cannot ask: it refuses actions that need an approval or an answer.'

/** Scenarios with a request that somebody decides. */
const ASKING = [
  ...['allow', 'deny', 'allow-session', 'question', 'proposal'],
  ...['deny-reason', 'undecided', 'stale-answers', 'changed-input', 'callback'],
]

/** Recordings of programs that would have to ask, without a channel for the answer. */
const REFUSALS = [
  { programs: ['claude', 'claude-old'], evidence: 'src/agents/claude/fixtures/claude/perm_denied' },
  { programs: ['codex', 'codex-default'], evidence: 'src/agents/codex/fixtures/codex/esc_headless' },
  { programs: ['gemini'], evidence: 'src/agents/gemini/fixtures/gemini/denied_default_bash' },
  { programs: ['opencode'], evidence: 'src/agents/opencode/fixtures/opencode/perm_ask_bash' },
  { programs: ['pi'], evidence: 'src/agents/pi/fixtures/pi/read_only' },
]

/** Limits of one-shot processes, for every program. */
export const ONESHOT_LIMITS: readonly Limit[] = [
  ...REFUSALS.map((refusal) => ({
    ...refusal,
    scenarios: ASKING,
    launch: 'oneshot' as const,
    reason: UNANSWERED,
    seen: /^no (?:request was opened|plan was proposed); /,
  })),
  {
    scenarios: ['hook'],
    launch: 'oneshot',
    reason: UNANSWERED,
    seen: /^unsupported_option: hooks\.beforeToolCall is not supported by a oneshot /,
  },
  {
    scenarios: ['steer'],
    launch: 'oneshot',
    reason: 'It reads one prompt and its input is closed then; refused before it starts.',
    seen: refused('steer'),
  },
  {
    scenarios: ['set-mode'],
    programs: ['opencode'],
    launch: 'oneshot',
    reason: 'Its modes are agents and do not correspond to a policy; refused before it starts.',
    seen: refused('setMode'),
    ours: true,
  },
]
