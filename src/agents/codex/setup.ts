import type { AgentSetup } from '../setup.ts'
import { PROVIDER_KEYS } from './provider-keys.ts'

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
