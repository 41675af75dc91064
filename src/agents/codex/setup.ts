import type { AgentSetup, NamedVariables } from '../setup.ts'

/** A provider in the user's configuration names the variable that holds its key. */
export const PROVIDER_KEYS: NamedVariables = {
  base: '.codex',
  variable: 'CODEX_HOME',
  path: 'config.toml',
  pattern: /(?<!#.*)\benv_key\s*=\s*["']([A-Za-z_]\w*)["']/g,
}

export const setup: AgentSetup = {
  program: 'codex',
  version: { args: ['--version'], pattern: /^codex-cli (\d+\.\d+\.\d+[\w.+-]*)$/ },
  install: 'npm install -g @openai/codex',
  login: 'codex login',
  credentials: [
    // The app-server does not read it, and neither launch reads OPENAI_API_KEY.
    { kind: 'variable', name: 'CODEX_API_KEY', launch: 'oneshot' },
    { kind: 'file', location: { base: '.codex', variable: 'CODEX_HOME', path: 'auth.json' } },
    { kind: 'named', in: PROVIDER_KEYS },
  ],
  sessions: { base: '.codex', variable: 'CODEX_HOME', path: 'sessions' },
}
