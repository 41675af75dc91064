import { type AgentPath, type AgentSetup, DASH_VERSION } from '../setup.ts'

function below(path: string): AgentPath {
  return { base: '.pi/agent', variable: 'PI_CODING_AGENT_DIR', path }
}

/** Keys of known providers; the model determines which one is used. */
export const KEYS = [
  ...[
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_OAUTH_TOKEN',
    'OPENAI_API_KEY',
    'GEMINI_API_KEY',
  ],
  ...['AZURE_OPENAI_API_KEY', 'AWS_BEARER_TOKEN_BEDROCK', 'OPENROUTER_API_KEY', 'AI_GATEWAY_API_KEY'],
  ...['GROQ_API_KEY', 'CEREBRAS_API_KEY', 'XAI_API_KEY', 'MISTRAL_API_KEY', 'DEEPSEEK_API_KEY'],
  ...['FIREWORKS_API_KEY', 'TOGETHER_API_KEY', 'BASETEN_API_KEY', 'NVIDIA_API_KEY', 'META_API_KEY'],
  ...['ZAI_API_KEY', 'ZAI_CODING_CN_API_KEY', 'MINIMAX_API_KEY', 'MOONSHOT_API_KEY', 'KIMI_API_KEY'],
  ...['OPENCODE_API_KEY', 'ANT_LING_API_KEY', 'CLOUDFLARE_API_KEY', 'XIAOMI_API_KEY'],
  ...['QWEN_TOKEN_PLAN_API_KEY', 'QWEN_TOKEN_PLAN_CN_API_KEY'],
]

export const setup: AgentSetup = {
  program: 'pi',
  version: { ...DASH_VERSION, env: { PI_OFFLINE: '1' } },
  install: 'npm install -g @earendil-works/pi-coding-agent',
  // The login is a command of its terminal: /login.
  login: 'pi',
  credentials: [
    { kind: 'file', location: below('auth.json') },
    ...KEYS.map((name) => ({ kind: 'variable', name }) as const),
  ],
  billedBySettings: true,
  sessions: below('sessions'),
}
