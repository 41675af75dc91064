import { type AgentSetup, DASH_VERSION, type Place } from '../setup.ts'

/** The variable names another home, not another `.gemini`. */
function below(path: string): Place {
  return { base: '', variable: 'GEMINI_CLI_HOME', path: `.gemini/${path}` }
}

export const setup: AgentSetup = {
  program: 'gemini',
  // Without it the program starts itself a second time before it answers.
  version: { ...DASH_VERSION, env: { GEMINI_CLI_NO_RELAUNCH: 'true' } },
  install: 'npm install -g @google/gemini-cli',
  // It asks how to log in when it is started for the first time.
  login: 'gemini',
  credentials: [
    { kind: 'variable', name: 'GOOGLE_GENAI_USE_VERTEXAI', values: ['true'] },
    { kind: 'variable', name: 'GEMINI_API_KEY' },
    { kind: 'file', place: below('oauth_creds.json') },
    { kind: 'file', place: below('gemini-credentials.json') },
    { kind: 'hidden' },
  ],
  billedBySettings: true,
  sessions: below('tmp'),
}
