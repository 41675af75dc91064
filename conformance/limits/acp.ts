import { type Limit, OPTIONS_ONLY, PARTIAL_USAGE, refused } from './limit.ts'

const RECORDED = 'src/agents/acp/fixtures'

const ALL = ['claude-agent-acp', 'codex-acp', 'qwen', 'copilot']

/** Features that the protocol lacks. */
const OF_THE_PROTOCOL: readonly Limit[] = [
  {
    scenarios: ['structured'],
    programs: ALL,
    reason: 'The protocol has no such option; refused before it starts.',
    seen: refused('outputSchema'),
  },
  {
    scenarios: ['steps'],
    programs: ['claude-agent-acp', 'codex-acp', 'copilot'],
    reason:
      'The protocol has no such option and does not report single model calls; refused before it starts.',
    seen: refused('maxSteps'),
  },
]

/** The recordings of each program. */
const FOLDERS = [
  { program: 'claude-agent-acp', folder: 'acp-claude' },
  { program: 'codex-acp', folder: 'acp-codex2' },
  { program: 'qwen', folder: 'acp-qwen' },
  { program: 'copilot', folder: 'acp-copilot' },
]

const OF_ANSWERS: readonly Limit[] = FOLDERS.flatMap(({ program, folder }) =>
  OPTIONS_ONLY.map((limit) => ({
    ...limit,
    programs: [program],
    evidence: `${RECORDED}/${folder}/tool_bash_reject`,
  })),
)

/** The handling of a second prompt by each program. */
const STEER: readonly Limit[] = FOLDERS.map(({ program, folder }) => ({
  scenarios: ['steer'],
  programs: [program],
  reason: 'A second prompt waits or cancels the first; refused before it starts.',
  seen: refused('steer'),
  evidence: `${RECORDED}/${folder}/concurrent_prompt`,
}))

/** Our refusal of an answer, which denies the call. */
const REFUSED_SCOPE =
  /^the outcome is denied \(permission_denied: .* scope: the agent does not offer "session" here; /

/** The reports of programs about their sub-agents. */
const OF_SUBAGENTS: readonly Limit[] = [
  { ...PARTIAL_USAGE, programs: ['codex-acp'], evidence: `${RECORDED}/acp-codex2/subagent_sessions` },
  { ...PARTIAL_USAGE, programs: ['qwen'], evidence: `${RECORDED}/acp-qwen/subagent` },
  {
    scenarios: ['subagent-events'],
    programs: ['qwen'],
    reason: 'It runs sub-agents in the background and omits the events inside them.',
    seen: /^no event inside the sub-agent was reported$/,
    evidence: `${RECORDED}/acp-qwen/subagent`,
  },
  {
    scenarios: ['subagent'],
    programs: ['copilot'],
    reason: 'It reports a sub-agent as an ordinary tool call whose name the model chooses.',
    seen: /^0 sub-agents were reported$/,
    evidence: `${RECORDED}/acp-copilot/subagent_sync`,
  },
  {
    scenarios: ['subagent-events'],
    programs: ['copilot'],
    reason: 'It reports the events inside a sub-agent as events of the main thread.',
    seen: /^its events are reported, and no sub-agent$/,
    evidence: `${RECORDED}/acp-copilot/subagent_sync`,
  },
]

export const ACP_LIMITS: readonly Limit[] = [
  ...OF_THE_PROTOCOL,
  ...OF_ANSWERS,
  ...STEER,
  ...OF_SUBAGENTS,
  {
    scenarios: ['allow-session'],
    programs: ['claude-agent-acp'],
    reason: 'It offers to allow once or always, and not for the session.',
    seen: /^it asked 2 times; the outcome is denied, its calls: denied,denied$/,
    evidence: `${RECORDED}/acp-claude/tool_bash`,
  },
  {
    scenarios: ['allow-session'],
    programs: ['codex-acp'],
    reason: 'It offers to allow once or always, and not for the session.',
    seen: /^the outcome is interrupted/,
    evidence: `${RECORDED}/acp-codex2/tool_bash`,
  },
  {
    scenarios: ['deny'],
    programs: ['codex-acp'],
    reason: 'A denial ends its turn.',
    seen: /^the outcome is interrupted, its calls: denied$/,
    evidence: `${RECORDED}/acp-codex2/tool_bash_reject`,
  },
  {
    scenarios: ['proposal'],
    programs: ['codex-acp'],
    reason: 'It has no plan mode.',
    seen: /^it has no plan mode$/,
  },
  {
    scenarios: ['budget', 'budget-per-turn'],
    programs: ['claude-agent-acp'],
    reason: 'It reports the cost when a turn is over; refused before it starts.',
    seen: /^unsupported_option: maxBudgetUsd /,
  },
  {
    scenarios: ['cost', 'budget', 'budget-per-turn'],
    programs: ['qwen'],
    reason: 'It reports tokens and no price.',
    seen: /^no cost in \{"input":\d+,/,
    evidence: `${RECORDED}/acp-qwen/text`,
  },
  {
    scenarios: ['cost', 'budget', 'budget-per-turn'],
    programs: ['copilot'],
    reason: 'It reports tokens and no price.',
    seen: /^no cost in \{"input":\d+,/,
    evidence: `${RECORDED}/acp-copilot/text`,
  },
  {
    scenarios: ['allow-session'],
    programs: ['qwen'],
    reason: 'It offers to allow once or always, and not for the session; a denial ends its turn.',
    seen: REFUSED_SCOPE,
    evidence: `${RECORDED}/acp-qwen/tool_bash`,
  },
  {
    scenarios: ['allow-session'],
    programs: ['copilot'],
    reason: 'It offers to allow once or always, and not for the session; a denial ends its turn.',
    seen: REFUSED_SCOPE,
    evidence: `${RECORDED}/acp-copilot/tool_bash`,
  },
  {
    scenarios: ['question'],
    programs: ['qwen'],
    reason: 'It asks for permission to ask: the protocol cannot carry the answers.',
    seen: /^no request was opened; the outcome is completed, its calls: success/,
  },
  {
    scenarios: ['review', 'goal'],
    programs: ['codex-acp'],
    reason:
      'Its command ignores settings that were changed after the last prompt: refused until another prompt was sent.',
    seen: /^the outcome is failed \(unsupported_option: .* the agent applies changed settings with the next prompt only/,
  },
  {
    scenarios: ['drop'],
    programs: ['qwen'],
    reason: 'It asks the model to continue after the break: both halves form one text.',
    seen: /^the answer is "Hello from the sc/,
  },
  {
    scenarios: ['plan', 'question', 'proposal'],
    programs: ['copilot'],
    reason: 'It offers no such tool over the protocol.',
    seen: /\[no tool to (?:plan|ask|propose) among /,
  },
  {
    scenarios: ['mcp', 'mcp-killed'],
    programs: ['copilot'],
    reason: 'It accepts servers by URL only and ignores others; refused before it starts.',
    seen: refused('mcpServers.demo'),
    evidence: `${RECORDED}/acp-copilot/mcp`,
  },
  {
    scenarios: ['big-output', 'huge-output'],
    programs: ['copilot'],
    reason: 'It reports the first 500 characters, marked as truncated, and saves the rest to a file.',
    seen: /^(?:71|62) lines of the output are intact$/,
    evidence: `${RECORDED}/acp-copilot/big_output`,
  },
]
