import { MainstemError, type Policy, type SessionOptions } from '../../model/index.ts'
import { unsupported } from '../kit/option.ts'

/** Keys of known providers; its settings select which one is used. */
const PROVIDER_KEYS = [
  ...['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ...['OPENROUTER_API_KEY', 'GROQ_API_KEY', 'MISTRAL_API_KEY', 'DEEPSEEK_API_KEY', 'XAI_API_KEY'],
]

/** Variables that the program inherits. */
export const PASSED: readonly string[] = ['OPENCODE_*', ...PROVIDER_KEYS]

/** The session counts steps and budget: every step reports its usage and cost. */
export function refuseLimits({ approval, sandbox, network, writableRoots }: Policy): void {
  if (sandbox === 'workspace-write')
    throw unsupported('opencode', 'sandbox workspace-write', 'it has no sandbox')
  if (sandbox === 'read-only' && approval === 'auto-edit')
    throw unsupported('opencode', 'auto-edit with read-only', 'they contradict each other')
  if (network !== undefined) throw unsupported('opencode', 'network', 'it has no sandbox to enforce it')
  if (writableRoots) throw unsupported('opencode', 'writableRoots', 'it has no sandbox to enforce them')
}

/** Options that no version supports. */
export function refuseCommon({ model, isolation, checkpointing }: SessionOptions): void {
  if (model !== undefined && !model.includes('/'))
    throw new MainstemError('invalid_request', `model: opencode requires provider/model, not "${model}"`)
  if (isolation === 'bare')
    throw unsupported('opencode', 'isolation bare', 'its settings define its providers')
  if (checkpointing !== undefined)
    throw unsupported('opencode', 'checkpointing', 'it manages its own checkpoints')
}

/** MCP servers, as its settings name them. */
export function serversOf(servers: NonNullable<SessionOptions['mcpServers']>): Record<string, object> {
  const native: Record<string, object> = {}
  for (const [
    name,
    { command, args = [], url, headers, env, trust, includeTools, excludeTools },
  ] of Object.entries(servers)) {
    if (trust !== undefined || includeTools || excludeTools) {
      const why = `name its tools as ${name}_<tool> in tools.preapproved and tools.denied`
      throw unsupported('opencode', `mcpServers.${name}`, why)
    }
    native[name] =
      url === undefined
        ? { type: 'local', command: [command, ...args], enabled: true, ...(env && { environment: env }) }
        : { type: 'remote', url, enabled: true, ...(headers && { headers }) }
  }
  return native
}
