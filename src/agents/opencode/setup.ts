import { type AgentPath, type AgentSetup, DASH_VERSION } from '../setup.ts'

function below(path: string): AgentPath {
  return { base: '.local/share', variable: 'XDG_DATA_HOME', path: `opencode${path}` }
}

const KEYS = [
  ...['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'],
  ...['GOOGLE_GENERATIVE_AI_API_KEY', 'OPENROUTER_API_KEY', 'GROQ_API_KEY', 'MISTRAL_API_KEY'],
  ...['DEEPSEEK_API_KEY', 'XAI_API_KEY'],
]

export const setup: AgentSetup = {
  program: 'opencode',
  version: DASH_VERSION,
  install: 'npm install -g opencode-ai',
  login: 'opencode auth login',
  credentials: [
    ...KEYS.map((name) => ({ kind: 'variable', name }) as const),
    { kind: 'file', location: below('/auth.json') },
  ],
  billedBySettings: true,
  free: true,
  sessions: below(''),
}
