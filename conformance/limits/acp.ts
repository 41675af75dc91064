import { type Limit, refused } from './limit.ts'

const RECORDED = 'src/agents/acp/fixtures'

const ALL = ['claude-agent-acp', 'codex-acp', 'qwen', 'copilot']

/** What the protocol has no word for, whoever speaks it. */
const OF_THE_PROTOCOL: readonly Limit[] = [
  {
    scenarios: ['structured'],
    programs: ALL,
    reason: 'The protocol has no word for it; refused before it starts.',
    seen: refused('outputSchema'),
  },
  {
    scenarios: ['steps'],
    programs: ['claude-agent-acp', 'codex-acp', 'copilot'],
    reason: 'The protocol has no word for it, and model calls are not told; refused before it starts.',
    seen: refused('maxSteps'),
  },
]

/** How each takes a second prompt. */
const STEER: readonly Limit[] = [
  { program: 'claude-agent-acp', folder: 'acp-claude' },
  { program: 'codex-acp', folder: 'acp-codex2' },
  { program: 'qwen', folder: 'acp-qwen' },
  { program: 'copilot', folder: 'acp-copilot' },
].map(({ program, folder }) => ({
  scenarios: ['steer'],
  programs: [program],
  reason: 'A second prompt waits, or stops the first; refused before it is tried.',
  seen: refused('steer'),
  evidence: `${RECORDED}/${folder}/concurrent_prompt`,
}))

export const ACP_LIMITS: readonly Limit[] = [
  ...OF_THE_PROTOCOL,
  ...STEER,
  {
    scenarios: ['question'],
    programs: ['claude-agent-acp'],
    reason: 'It has no tool for questions over the protocol.',
    seen: /^nobody was asked; the outcome is completed, its calls: error/,
    evidence: `${RECORDED}/acp-claude/ask`,
  },
  {
    scenarios: ['question'],
    programs: ['codex-acp'],
    reason: 'It has no tool for questions over the protocol.',
    seen: /^nobody was asked; the outcome is completed, its calls: none/,
    evidence: `${RECORDED}/acp-codex2/ask`,
  },
  {
    scenarios: ['allow-session'],
    programs: ['claude-agent-acp'],
    reason: 'It offers to allow once or always, and nothing in between.',
    seen: /^it asked 2 times; the outcome is completed, its calls: denied,denied$/,
    evidence: `${RECORDED}/acp-claude/tool_bash`,
  },
  {
    scenarios: ['allow-session'],
    programs: ['codex-acp'],
    reason: 'It offers to allow once or always, and nothing in between.',
    seen: /^the outcome is interrupted/,
    evidence: `${RECORDED}/acp-codex2/tool_bash`,
  },
  {
    scenarios: ['deny'],
    programs: ['codex-acp'],
    reason: 'A no ends its turn.',
    seen: /^the outcome is interrupted, its calls: denied$/,
    evidence: `${RECORDED}/acp-codex2/tool_bash_reject`,
  },
  {
    scenarios: ['subagent'],
    programs: ['codex-acp'],
    reason: 'Its sub-agents are not told.',
    seen: /^no sub-agent was told$/,
    evidence: `${RECORDED}/acp-codex2/subagent`,
  },
  {
    scenarios: ['proposal'],
    programs: ['codex-acp'],
    reason: 'It has no mode for plans.',
    seen: /^it has no mode for plans$/,
  },
  {
    scenarios: ['cost'],
    programs: ['qwen'],
    reason: 'It tells tokens, and no price.',
    seen: /^usage is \{"input":\d+,(?!.*cost)/,
    evidence: `${RECORDED}/acp-qwen/text`,
  },
  {
    scenarios: ['cost'],
    programs: ['copilot'],
    reason: 'It tells tokens, and no price.',
    seen: /^usage is \{"input":\d+,(?!.*cost)/,
    evidence: `${RECORDED}/acp-copilot/text`,
  },
  {
    scenarios: ['allow-session'],
    programs: ['qwen'],
    reason: 'It offers to allow once or always, and nothing in between; a no ends its turn.',
    seen: /^the answer is ""$/,
    evidence: `${RECORDED}/acp-qwen/tool_bash`,
  },
  {
    scenarios: ['allow-session'],
    programs: ['copilot'],
    reason: 'It offers to allow once or always, and nothing in between; a no ends its turn.',
    seen: /^the answer is ""$/,
    evidence: `${RECORDED}/acp-copilot/tool_bash`,
  },
  {
    scenarios: ['question'],
    programs: ['qwen'],
    reason: 'It asks whether it may ask: the protocol has no word for the answers.',
    seen: /^nobody was asked; the outcome is completed, its calls: success/,
  },
  {
    scenarios: ['drop'],
    programs: ['qwen'],
    reason: 'It has the model go on where the stream broke: two halves stand as one text.',
    seen: /^the answer is "Hello from the sc/,
  },
  {
    scenarios: ['plan', 'question', 'proposal'],
    programs: ['copilot'],
    reason: 'It has no tool for it over the protocol.',
    seen: /\[no tool to (?:plan|ask|propose) among /,
  },
  {
    scenarios: ['mcp'],
    programs: ['copilot'],
    reason: 'It takes servers by url only, and skips others without a word; refused before it starts.',
    seen: refused('mcpServers.demo'),
    evidence: `${RECORDED}/acp-copilot/mcp`,
  },
  {
    scenarios: ['subagent'],
    programs: ['copilot'],
    reason: 'A sub-agent is a call of a tool like any other, by a name that the model chooses.',
    seen: /^no sub-agent was told$/,
    evidence: `${RECORDED}/acp-copilot/subagent`,
  },
]
