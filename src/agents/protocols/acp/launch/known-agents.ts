import { type AcpQuirks, modesOf, PLAIN } from './quirks.ts'

export const GEMINI: AcpQuirks = {
  ...PLAIN,
  modeUpdate: '[MODE_UPDATE] ',
  nameEnd: '__',
  cancelled: /^Command cancelled by user\./,
  denied: /denied by policy/,
  blocked: /^Blocked: command substitution detected in shell command\.$/,
  subagentTools: ['invoke_agent'],
  planTools: ['exit_plan_mode'],
  wholeDiffs: true,
  replaysLate: true,
  forgetsCancelled: true,
  modelAtStart: true,
  broadOptions: ['proceed_always_server'],
  modes: modesOf({ ask: ['default'], edit: ['autoEdit'], all: ['yolo'], readOnly: ['plan'] }),
}

/** Never run here; others report its modes. */
export const ANTIGRAVITY: AcpQuirks = {
  ...PLAIN,
  questionIds: 'interaction_',
  modes: modesOf({ ask: ['default'], edit: ['auto_edit'], all: ['yolo'] }),
}

export const CLAUDE_AGENT: AcpQuirks = {
  ...PLAIN,
  failure: 'API Error: ',
  subagentTools: ['Agent', 'Task'],
  countsByModel: true,
  describesSubagents: 'agentType',
  planTools: ['ExitPlanMode'],
  modes: modesOf({
    ask: ['default'],
    edit: ['acceptEdits'],
    // Root cannot select the bypass; in the default mode we approve every request.
    all: ['bypassPermissions', 'default'],
    readOnly: ['plan'],
  }),
}

/**
 * An adapter whose messages have no ids. Its modes are also sandboxes; none requests approval for every edit, so the
 * stricter one is used.
 */
const CODEX_WITHOUT_IDS: AcpQuirks = {
  ...PLAIN,
  remarks: [
    { starts: 'Warning: ', level: 'warning' },
    { starts: 'Config warning: ', level: 'warning' },
    { starts: 'Model metadata for ', level: 'warning' },
  ],
  wholeDiffs: true,
  describesRequests: true,
  modes: {
    'ask none': ['read-only'],
    'ask read-only': ['read-only'],
    'ask-dangerous none': ['agent', 'auto'],
    'ask-dangerous read-only': ['read-only'],
    'ask-dangerous workspace-write': ['workspace-write', 'auto'],
    'auto-edit workspace-write': ['workspace-write', 'auto'],
    'auto-all none': ['agent-full-access', 'full-access'],
    'auto-all full-access': ['agent-full-access', 'full-access'],
  },
}

export const CODEX_ACP: AcpQuirks = {
  ...CODEX_WITHOUT_IDS,
  failureHasNoId: true,
  questionInTitle: true,
  staleVerbs: ['review', 'goal'],
  describesSubagents: 'prompt',
}

const COPILOT_MODES = 'https://agentclientprotocol.com/protocol/session-modes'
const COPILOT_AGENT = [`${COPILOT_MODES}#agent`]

export const COPILOT: AcpQuirks = {
  ...PLAIN,
  remarks: [
    { starts: 'Info: Operation cancelled by user', level: 'info' },
    { starts: 'Info: /', level: 'info' },
  ],
  retry: { starts: 'Info: ', ends: 'Retrying...' },
  failure: 'Error: ',
  serversByUrl: true,
  usageIsTotal: true,
  describesRequests: true,
  // Its autopilot continues by itself after an answer. Its plan mode blocks changes, and asks before any command.
  modes: modesOf({
    ask: COPILOT_AGENT,
    edit: COPILOT_AGENT,
    all: COPILOT_AGENT,
    readOnly: [`${COPILOT_MODES}#plan`],
  }),
}

export const OPENCODE: AcpQuirks = {
  ...PLAIN,
  cancelled: /<shell_metadata>\nUser aborted the command/,
  subagentTools: ['task'],
  usageOfLastStep: true,
  describesRequests: true,
  // Its permissions come from its configuration, and its plan mode still runs commands.
  modes: modesOf({ ask: ['build'], edit: ['build'], all: ['build'] }),
}

export const QWEN: AcpQuirks = {
  ...PLAIN,
  tellsSteps: true,
  subagentTools: ['agent'],
  planTools: ['exit_plan_mode'],
  wholeDiffs: true,
  broadOptions: ['proceed_once_and_switch_to_default'],
  modes: modesOf({ ask: ['default'], edit: ['auto-edit'], all: ['yolo'], readOnly: ['plan'] }),
}

/** By the agent name in the handshake, so that a transcript need not name its agent. */
const BY_NAME: ReadonlyMap<string, AcpQuirks> = new Map([
  ['antigravity-acp', ANTIGRAVITY],
  ['gemini-cli', GEMINI],
  ['@agentclientprotocol/claude-agent-acp', CLAUDE_AGENT],
  ['@zed-industries/claude-code-acp', CLAUDE_AGENT],
  ['@agentclientprotocol/codex-acp', CODEX_ACP],
  ['codex-acp', CODEX_WITHOUT_IDS],
  ['Copilot', COPILOT],
  ['OpenCode', OPENCODE],
  ['qwen-code', QWEN],
])

export function quirksOf(name: string | undefined): AcpQuirks | undefined {
  return name === undefined ? undefined : BY_NAME.get(name)
}
