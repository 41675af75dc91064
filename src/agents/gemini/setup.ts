import { type AgentPath, type AgentSetup, DASH_VERSION } from '../setup.ts'

/** The variable names another home directory, not another `.gemini`. */
function below(path: string): AgentPath {
  return { base: '', variable: 'GEMINI_CLI_HOME', path: `.gemini/${path}` }
}

export const setup: AgentSetup = {
  program: 'gemini',
  // Without it the program restarts itself before it prints its version.
  version: { ...DASH_VERSION, env: { GEMINI_CLI_NO_RELAUNCH: 'true' } },
  install: 'npm install -g @google/gemini-cli',
  // It asks for the login method on its first start.
  login: 'gemini',
  credentials: [
    { kind: 'variable', name: 'GOOGLE_GENAI_USE_VERTEXAI', values: ['true'] },
    { kind: 'variable', name: 'GEMINI_API_KEY' },
    { kind: 'file', location: below('oauth_creds.json') },
    { kind: 'file', location: below('gemini-credentials.json') },
    { kind: 'hidden' },
  ],
  billedBySettings: true,
  sessions: below('tmp'),
}
