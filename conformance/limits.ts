import type { Launch } from './stage.ts'

/** What a program cannot do by itself. Each is tried all the same, and is red as soon as it works after all. */
export interface Limit {
  readonly scenarios: readonly string[]
  readonly programs?: readonly string[]
  readonly launch?: Launch
  readonly reason: string
  /** A recording that shows it; absent where the refusal is our own, and said before anything starts. */
  readonly evidence?: string
  /** Not every time: whether it works is a matter of luck. */
  readonly sometimes?: boolean
}

const CLAUDE = 'src/agents/claude/fixtures/claude'
const CODEX = 'src/agents/codex/fixtures/codex'
const GEMINI = 'src/agents/gemini/fixtures/gemini'
const GEMINI_ACP = 'src/agents/gemini/fixtures/acp-gemini'
const ACP = 'src/agents/acp/fixtures'
const OPENCODE = 'src/agents/opencode/fixtures/opencode'

const ASKING = ['allow', 'deny', 'allow-session', 'question', 'proposal']

/** What no run of a single process can do, whatever the program. */
const ONESHOT: readonly Limit[] = [
  ...[
    [['claude', 'claude-old'], `${CLAUDE}/perm_denied`] as const,
    [['codex'], `${CODEX}/esc_headless`] as const,
    [['gemini'], `${GEMINI}/denied_default_bash`] as const,
    [['opencode'], `${OPENCODE}/perm_ask_bash`] as const,
  ].map(([programs, evidence]) => ({
    scenarios: ASKING,
    programs,
    launch: 'oneshot' as const,
    reason: 'It has no way to ask while it runs: what needs an answer is refused.',
    evidence,
  })),
  {
    scenarios: ['steer'],
    launch: 'oneshot',
    reason: 'It reads one prompt, and its input is closed then; refused before it is tried.',
  },
  {
    scenarios: ['images', 'set-model', 'set-mode'],
    launch: 'oneshot',
    reason: 'It is told everything when it starts, as text; refused before it is tried.',
  },
]

/** The first that fits counts, so the particular stands before the general. */
export const LIMITS: readonly Limit[] = [
  {
    scenarios: ['plan'],
    programs: ['claude', 'claude-old'],
    reason: 'It keeps tasks, which it makes and changes one by one: the calls are told, and no list.',
    evidence: `${CLAUDE}/todo_tools`,
  },
  {
    scenarios: ['deltas'],
    programs: ['codex'],
    launch: 'oneshot',
    reason: 'Its text comes when it is whole.',
    evidence: `${CODEX}/plain`,
  },
  {
    scenarios: ['diffs'],
    programs: ['codex'],
    launch: 'oneshot',
    reason: 'It names the files that it changed, and not what changed in them.',
    evidence: `${CODEX}/file`,
  },
  {
    scenarios: ['cost'],
    programs: ['codex', 'codex-acp'],
    reason: 'It tells tokens, and no price.',
    evidence: `${CODEX}/plain`,
  },
  {
    scenarios: ['steps'],
    programs: ['codex'],
    launch: 'oneshot',
    reason: 'It has no such limit, and does not tell its model calls one by one; refused before it starts.',
  },
  {
    scenarios: ['set-mode'],
    programs: ['codex'],
    launch: 'live',
    reason: 'It has a policy and no modes by name; refused.',
  },
  {
    scenarios: ['proposal'],
    programs: ['codex', 'opencode', 'codex-acp'],
    launch: 'live',
    reason: 'It has no plan that would have to be approved.',
  },
  {
    scenarios: ['rate-limit'],
    programs: ['codex', 'codex-acp'],
    reason: 'It takes 429 for final.',
    evidence: `${CODEX}/err429`,
  },
  {
    scenarios: ['deltas'],
    programs: ['opencode'],
    launch: 'oneshot',
    reason: 'Its text comes when it is whole.',
    evidence: `${OPENCODE}/text`,
  },
  {
    scenarios: ['thinking'],
    programs: ['gemini'],
    launch: 'oneshot',
    reason: 'Thoughts are no part of its stream.',
    evidence: `${GEMINI}/thinking`,
  },
  {
    scenarios: ['output'],
    programs: ['gemini'],
    launch: 'live',
    reason: 'Its protocol tells that a command ended, and not what it wrote.',
    evidence: `${GEMINI_ACP}/tool_bash`,
  },
  {
    scenarios: ['shell-fails'],
    programs: ['gemini'],
    launch: 'oneshot',
    reason: 'Exit codes are no part of its stream: every command that ran is a success.',
    evidence: `${GEMINI}/tool_bash_fail`,
  },
  {
    scenarios: ['shell-fails'],
    programs: ['gemini'],
    launch: 'live',
    reason: 'Exit codes are no part of its protocol: every command that ran is a success.',
    evidence: `${GEMINI_ACP}/tool_bash_fail`,
  },
  {
    scenarios: ['plan'],
    programs: ['gemini'],
    launch: 'live',
    reason: 'Its list is a call of a tool, and what is in it is not told.',
    evidence: `${GEMINI_ACP}/todo`,
  },
  {
    scenarios: ['subagent'],
    programs: ['gemini'],
    launch: 'live',
    reason: 'A sub-agent is a call of a tool like any other.',
    evidence: `${GEMINI_ACP}/subagent`,
  },
  {
    scenarios: ['question'],
    programs: ['gemini'],
    launch: 'live',
    reason: 'It has no tool for questions over its protocol.',
  },
  {
    scenarios: ['mcp'],
    programs: ['gemini'],
    launch: 'oneshot',
    reason: 'It reads servers from its own settings only; refused before it starts.',
  },
  {
    scenarios: ['edit', 'diffs'],
    programs: ['gemini'],
    launch: 'oneshot',
    reason: 'It tells that the tool succeeded, and not what became of the file.',
    evidence: `${GEMINI}/file_edit`,
  },
  {
    scenarios: ['big-output'],
    programs: ['gemini'],
    launch: 'oneshot',
    reason: 'It ends before all of its output is read, and then there is no result: told as crashed.',
    sometimes: true,
  },
  {
    scenarios: ['cost'],
    programs: ['gemini'],
    reason: 'It tells tokens, and no price.',
    evidence: `${GEMINI}/text`,
  },
  {
    scenarios: ['structured'],
    programs: ['gemini', 'opencode'],
    reason: 'It cannot be given a schema; refused before it starts.',
  },
  {
    scenarios: ['steps'],
    programs: ['gemini'],
    reason:
      'It reads its limit from a file of settings only, and does not tell its model calls; refused before it starts.',
  },
  {
    scenarios: ['drop'],
    programs: ['gemini'],
    launch: 'oneshot',
    reason: 'A broken stream ends its turn.',
    evidence: `${GEMINI}/drop_once`,
  },
  {
    scenarios: ['drop'],
    programs: ['gemini'],
    launch: 'live',
    reason: 'A broken stream ends its turn.',
    evidence: `${GEMINI_ACP}/drop`,
  },
  {
    scenarios: ['steer'],
    programs: ['gemini', 'opencode', 'claude-agent-acp', 'codex-acp'],
    launch: 'live',
    reason: 'A second prompt waits, or stops the first; refused before it is tried.',
  },
  {
    scenarios: ['steer'],
    programs: ['claude-old'],
    launch: 'live',
    reason: 'This version takes the prompt, and does not say that it joined the turn.',
    evidence: 'src/agents/claude/fixtures/claude-2.1.197/bidi_steer_tool',
  },
  {
    scenarios: ['structured', 'steps'],
    programs: ['claude-agent-acp', 'codex-acp'],
    reason: 'The protocol has no word for it; refused before it starts.',
  },
  {
    scenarios: ['question'],
    programs: ['claude-agent-acp'],
    reason: 'It has no tool for questions over the protocol.',
    evidence: `${ACP}/acp-claude/ask`,
  },
  {
    scenarios: ['question'],
    programs: ['codex-acp'],
    reason: 'It has no tool for questions over the protocol.',
    evidence: `${ACP}/acp-codex2/ask`,
  },
  {
    scenarios: ['allow-session'],
    programs: ['claude-agent-acp'],
    reason: 'It offers to allow once or always, and nothing in between.',
    evidence: `${ACP}/acp-claude/tool_bash`,
  },
  {
    scenarios: ['allow-session'],
    programs: ['codex-acp'],
    reason: 'It offers to allow once or always, and nothing in between.',
    evidence: `${ACP}/acp-codex2/tool_bash`,
  },
  {
    scenarios: ['deny'],
    programs: ['codex-acp'],
    reason: 'A no ends its turn.',
    evidence: `${ACP}/acp-codex2/tool_bash_reject`,
  },
  {
    scenarios: ['subagent'],
    programs: ['codex-acp'],
    reason: 'Its sub-agents are not told.',
    evidence: `${ACP}/acp-codex2/subagent`,
  },
  ...ONESHOT,
]

export function limitOf(program: string, launch: Launch, scenario: string): Limit | undefined {
  return LIMITS.find(
    (limit) =>
      limit.scenarios.includes(scenario) &&
      (limit.programs?.includes(program) ?? true) &&
      (limit.launch ?? launch) === launch,
  )
}
