import type { OfflineProgram } from '../src/testing/index.ts'

/** A program as it is published, and the agent that drives it. Versions are exact: npm would choose others. */
export interface Program {
  readonly id: string
  readonly agent: string
  readonly package: string
  readonly version: string
  /** The command that the package installs. */
  readonly bin: string
  /** Whose settings and key it runs with. */
  readonly offline: OfflineProgram
  readonly launches: readonly ('live' | 'oneshot')[]
  /** Another of its models, to switch to. */
  readonly otherModel?: string
  /** One of its modes, to switch to. */
  readonly otherMode?: string
  /** Its mode in which a plan comes first, and has to be approved. */
  readonly planMode?: string
  /** Histories below the home directory that its live launch names by the minute. It loses one that is resumed within it. */
  readonly namesByMinute?: string
  /** Its usage and cost include calls beside the conversation, such as the one for a title. */
  readonly countsSideCalls?: boolean
  /** The differences from the column of the same agent and version. */
  readonly variant?: string
  /** Part of every check, not only of the full run. */
  readonly inCi: boolean
}

const BOTH = ['live', 'oneshot'] as const
const LIVE = ['live'] as const

export const PROGRAMS: readonly Program[] = [
  {
    id: 'claude',
    agent: 'claude',
    package: '@anthropic-ai/claude-code',
    version: '2.1.326',
    bin: 'claude',
    offline: 'claude',
    launches: BOTH,
    otherModel: 'claude-sonnet-4-5',
    otherMode: 'acceptEdits',
    planMode: 'plan',
    inCi: true,
  },
  {
    id: 'codex',
    agent: 'codex',
    package: '@openai/codex',
    version: '0.169.0',
    bin: 'codex',
    offline: 'codex',
    launches: BOTH,
    otherModel: 'gpt-5.4',
    otherMode: 'plan',
    planMode: 'plan',
    inCi: true,
  },
  {
    id: 'gemini',
    agent: 'gemini',
    package: '@google/gemini-cli',
    version: '0.61.0',
    bin: 'gemini',
    offline: 'gemini',
    launches: BOTH,
    otherModel: 'gemini-2.5-pro',
    otherMode: 'autoEdit',
    namesByMinute: '.gemini/tmp/*/chats/session-*.jsonl',
    planMode: 'plan',
    inCi: true,
  },
  {
    id: 'opencode',
    agent: 'opencode',
    package: 'opencode-ai',
    version: '1.18.33',
    bin: 'opencode',
    offline: 'opencode',
    launches: BOTH,
    otherModel: 'scripted/small',
    otherMode: 'plan',
    planMode: 'plan',
    inCi: true,
  },
  {
    id: 'codex-default',
    agent: 'codex',
    variant: 'default model',
    package: '@openai/codex',
    version: '0.169.0',
    bin: 'codex',
    offline: 'codex-default',
    launches: BOTH,
    otherModel: 'gpt-5.4',
    otherMode: 'plan',
    planMode: 'plan',
    inCi: false,
  },
  {
    id: 'claude-old',
    agent: 'claude',
    package: '@anthropic-ai/claude-code',
    version: '2.1.197',
    bin: 'claude',
    offline: 'claude',
    launches: BOTH,
    otherModel: 'claude-sonnet-4-5',
    otherMode: 'acceptEdits',
    planMode: 'plan',
    inCi: false,
  },
  {
    id: 'claude-agent-acp',
    agent: 'claude-agent-acp',
    package: '@agentclientprotocol/claude-agent-acp',
    version: '0.99.1',
    bin: 'claude-agent-acp',
    offline: 'claude',
    launches: LIVE,
    countsSideCalls: true,
    otherModel: 'sonnet',
    otherMode: 'acceptEdits',
    planMode: 'plan',
    inCi: false,
  },
  {
    id: 'codex-acp',
    agent: 'codex-acp',
    package: '@agentclientprotocol/codex-acp',
    version: '2.6.0',
    bin: 'codex-acp',
    offline: 'codex',
    launches: LIVE,
    otherModel: 'gpt-5.6-sol',
    otherMode: 'read-only',
    inCi: false,
  },
  {
    id: 'qwen',
    agent: 'qwen',
    package: '@qwen-code/qwen-code',
    version: '0.24.4',
    bin: 'qwen',
    offline: 'qwen',
    launches: LIVE,
    otherModel: 'small(openai)',
    otherMode: 'auto-edit',
    planMode: 'plan',
    inCi: false,
  },
  {
    id: 'copilot',
    agent: 'copilot',
    package: '@github/copilot',
    version: '1.0.102',
    bin: 'copilot',
    offline: 'copilot',
    launches: LIVE,
    otherMode: 'https://agentclientprotocol.com/protocol/session-modes#plan',
    planMode: 'https://agentclientprotocol.com/protocol/session-modes#plan',
    inCi: false,
  },
  {
    id: 'pi',
    agent: 'pi',
    package: '@earendil-works/pi-coding-agent',
    // The newest version whose dependencies can be installed.
    version: '0.87.1',
    bin: 'pi',
    offline: 'pi',
    launches: BOTH,
    otherModel: 'scripted/small',
    inCi: false,
  },
]
