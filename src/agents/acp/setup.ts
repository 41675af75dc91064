import { type AgentSetup, type CredentialSource, DASH_VERSION } from '../setup.ts'

const variable = (name: string): CredentialSource => ({ kind: 'variable', name })

const HIDDEN: CredentialSource = { kind: 'hidden' }

/** Installation and login details of these agents. */
const KNOWN: Readonly<Record<string, AgentSetup>> = {
  // Logs in through the protocol and stores the login in the keyring. The ACP registry distributes its binary.
  'antigravity-acp': { credentials: [HIDDEN] },
  auggie: {
    version: { args: ['--version'], pattern: /^(\d+\.\d+\.\d+[\w.+-]*)(?: \(commit \w+\))?$/ },
    install: 'npm install -g @augmentcode/auggie',
    login: 'auggie login',
    credentials: [
      variable('AUGMENT_SESSION_AUTH'),
      { kind: 'file', location: { base: '.augment', path: 'session.json' } },
    ],
  },
  'claude-agent-acp': {
    install: 'npm install -g @agentclientprotocol/claude-agent-acp',
    credentials: [variable('ANTHROPIC_API_KEY'), HIDDEN],
  },
  cline: { version: DASH_VERSION, install: 'npm install -g cline', login: 'cline auth' },
  'codex-acp': { install: 'npm install -g @agentclientprotocol/codex-acp' },
  copilot: {
    version: { args: ['--version'], pattern: /^GitHub Copilot CLI (\d+\.\d+\.\d+[\w+-]*)\.?$/ },
    install: 'npm install -g @github/copilot',
    login: 'copilot login',
    credentials: [
      variable('COPILOT_PROVIDER_BEARER_TOKEN'),
      variable('COPILOT_PROVIDER_API_KEY'),
      variable('COPILOT_GITHUB_TOKEN'),
      variable('GH_TOKEN'),
      variable('GITHUB_TOKEN'),
      HIDDEN,
    ],
  },
  droid: {
    version: DASH_VERSION,
    install: 'npm install -g droid',
    credentials: [variable('FACTORY_API_KEY'), HIDDEN],
  },
  kimi: { version: DASH_VERSION, install: 'npm install -g @moonshot-ai/kimi-code', login: 'kimi login' },
  'opencode-acp': {
    version: DASH_VERSION,
    install: 'npm install -g opencode-ai',
    login: 'opencode auth login',
    credentials: [
      variable('OPENCODE_API_KEY'),
      {
        kind: 'file',
        location: { base: '.local/share', variable: 'XDG_DATA_HOME', path: 'opencode/auth.json' },
      },
    ],
    billedBySettings: true,
    free: true,
    sessions: { base: '.local/share', variable: 'XDG_DATA_HOME', path: 'opencode' },
  },
  'pi-acp': { install: 'npm install -g pi-acp @earendil-works/pi-coding-agent' },
  qwen: { version: DASH_VERSION, install: 'npm install -g @qwen-code/qwen-code' },
}

/** The generic agent has no program: its name is a placeholder for a configured one. */
export function setupOf(id: string, program: string): AgentSetup {
  return id === 'acp' ? {} : { program, ...KNOWN[id] }
}
