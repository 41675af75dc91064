import type { Capabilities, Policy } from '../../model/index.ts'
import type { LaunchRecipe } from '../agent.ts'
import { ANTIGRAVITY, CLAUDE_AGENT, CODEX_ACP, COPILOT, QWEN } from '../protocols/acp/launch/known-agents.ts'
import { OPENCODE_WITH_RULES, opencodeEnv } from '../protocols/acp/launch/opencode.ts'
import type { AcpQuirks } from '../protocols/acp/launch/quirks.ts'

/** An agent that implements the protocol: its command and its deviations. */
export interface AcpEntry {
  readonly id: string
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** Variables with keys and settings of this agent; no others are passed on. */
  readonly passEnv: readonly string[]
  readonly env?: (policy: Policy) => Readonly<Record<string, string>>
  readonly testedVersion?: string
  /** Absent quirks are looked up by the name that the agent reports. */
  readonly quirks?: AcpQuirks
  readonly capabilities?: Partial<Capabilities>
  /** Why it lacks commands of other agents' terminals. */
  readonly lacks?: LaunchRecipe['lacks']
  /** The exit code after SIGTERM, if the agent handles it. */
  readonly stopCode?: number
  /** Its answer to `session/cancel` leaves the command of the turn running. */
  readonly leavesTools?: true
}

const NO_FORK = 'it cannot copy a session'
const NOT_OFFERED = 'it does not offer this command over the protocol'

/** Agents with their documented command lines. */
export const REGISTRY: readonly AcpEntry[] = [
  {
    id: 'antigravity-acp',
    name: 'Google Antigravity',
    command: ['agy_acp_server'],
    quirks: ANTIGRAVITY,
    passEnv: ['AGY_*', 'ANTIGRAVITY_*'],
  },
  {
    id: 'auggie',
    name: 'Auggie',
    command: ['auggie', '--acp'],
    passEnv: ['AUGMENT_*'],
  },
  {
    id: 'claude-agent-acp',
    name: 'Claude Agent (ACP)',
    command: ['claude-agent-acp'],
    passEnv: ['ANTHROPIC_*', 'CLAUDE_CODE_*', 'CLAUDE_CONFIG_DIR', 'IS_SANDBOX', 'DISABLE_*'],
    testedVersion: '0.99.1',
    quirks: CLAUDE_AGENT,
    stopCode: 0,
    capabilities: {
      thinking: 'summary',
      questions: true,
      usage: 'turn',
      cost: true,
      subagents: true,
      verbs: ['fork', 'compact', 'goal'],
      marksRetries: true,
    },
    lacks: { review: NOT_OFFERED },
  },
  {
    id: 'cline',
    name: 'Cline',
    command: ['cline', '--acp'],
    passEnv: ['CLINE_*'],
  },
  {
    id: 'codex-acp',
    name: 'Codex (ACP)',
    command: ['codex-acp'],
    passEnv: ['CODEX_*', 'OPENAI_*'],
    testedVersion: '2.6.0',
    quirks: CODEX_ACP,
    leavesTools: true,
    capabilities: {
      thinking: 'summary',
      questions: true,
      usage: 'turn',
      planApproval: false,
      subagents: true,
      verbs: ['fork', 'compact', 'review', 'goal'],
      marksRetries: true,
    },
  },
  {
    id: 'copilot',
    name: 'GitHub Copilot CLI',
    command: ['copilot', '--acp'],
    passEnv: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN'],
    testedVersion: '1.0.102',
    quirks: COPILOT,
    capabilities: {
      planApproval: false,
      usage: 'turn',
      plans: false,
      mcp: false,
      verbs: ['compact', 'review'],
      marksRetries: true,
    },
    lacks: { fork: NO_FORK, goal: 'it has no goals' },
  },
  { id: 'cursor', name: 'Cursor', command: ['cursor-agent', 'acp'], passEnv: ['CURSOR_*'] },
  { id: 'devin', name: 'Devin', command: ['devin', 'acp'], passEnv: ['DEVIN_*'] },
  {
    id: 'droid',
    name: 'Factory Droid',
    command: ['droid', 'exec', '--output-format', 'acp'],
    passEnv: ['FACTORY_*'],
  },
  { id: 'goose', name: 'Goose', command: ['goose', 'acp'], passEnv: ['GOOSE_*'] },
  { id: 'grok', name: 'Grok', command: ['grok', 'agent', 'stdio'], passEnv: ['GROK_*', 'XAI_*'] },
  { id: 'iflow', name: 'iFlow', command: ['iflow', '--experimental-acp'], passEnv: ['IFLOW_*'] },
  { id: 'junie', name: 'Junie', command: ['junie', '--acp=true'], passEnv: ['JUNIE_*'] },
  {
    id: 'kimi',
    name: 'Kimi Code',
    command: ['kimi', 'acp'],
    passEnv: ['KIMI_*', 'MOONSHOT_*'],
  },
  { id: 'kiro', name: 'Kiro', command: ['kiro-cli-chat', 'acp'], passEnv: ['KIRO_*'] },
  {
    id: 'opencode-acp',
    name: 'OpenCode (ACP)',
    command: ['opencode', 'acp'],
    passEnv: ['OPENCODE_*'],
    env: opencodeEnv,
    testedVersion: '1.18.33',
    quirks: OPENCODE_WITH_RULES,
    capabilities: { usage: 'turn', cost: true, subagents: true },
  },
  {
    id: 'pi-acp',
    name: 'Pi (ACP)',
    command: ['pi-acp'],
    passEnv: ['PI_*'],
  },
  { id: 'qoder', name: 'Qoder', command: ['qodercli', '--acp'], passEnv: ['QODER_*'] },
  {
    id: 'qwen',
    name: 'Qwen Code',
    command: ['qwen', '--acp'],
    passEnv: ['QWEN_*', 'DASHSCOPE_*', 'OPENAI_*'],
    testedVersion: '0.24.4',
    quirks: QWEN,
    capabilities: { usage: 'step', subagents: true, verbs: [] },
    lacks: { fork: NO_FORK, compact: NOT_OFFERED, review: NOT_OFFERED, goal: NOT_OFFERED },
  },
]
