import type { AgentSetup, CredentialSource } from '../setup.ts'

/** Another provider's account is billed, and the keys below are ignored. */
function provider(name: string): CredentialSource {
  return { kind: 'variable', name, values: ['1', 'true', 'yes', 'on'] }
}

export const setup: AgentSetup = {
  program: 'claude',
  version: { args: ['--version'], pattern: /^(\d+\.\d+\.\d+[\w.+-]*) \(Claude Code\)$/ },
  install: 'npm install -g @anthropic-ai/claude-code',
  login: 'claude auth login',
  credentials: [
    provider('CLAUDE_CODE_USE_BEDROCK'),
    provider('CLAUDE_CODE_USE_VERTEX'),
    provider('CLAUDE_CODE_USE_FOUNDRY'),
    { kind: 'variable', name: 'ANTHROPIC_AUTH_TOKEN' },
    { kind: 'variable', name: 'ANTHROPIC_API_KEY' },
    { kind: 'variable', name: 'CLAUDE_CODE_OAUTH_TOKEN' },
    { kind: 'file', location: { base: '.claude', variable: 'CLAUDE_CONFIG_DIR', path: '.credentials.json' } },
    { kind: 'hidden', platforms: ['darwin'] },
  ],
  sessions: { base: '.claude', variable: 'CLAUDE_CONFIG_DIR', path: 'projects' },
}
