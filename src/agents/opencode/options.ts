import { MainstemError, type Policy, type SessionOptions } from '../../model/index.ts'
import { refuseSet, unsupported } from '../kit/option.ts'

/** Keys of known providers; its settings select which one is used. */
const PROVIDER_KEYS = [
  ...['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ...['OPENROUTER_API_KEY', 'GROQ_API_KEY', 'MISTRAL_API_KEY', 'DEEPSEEK_API_KEY', 'XAI_API_KEY'],
]

/** Why no launch of either version has these commands. */
export const LACKS = {
  review: 'its command is a prompt of its own terminal',
  goal: 'it has no goals',
  rewind: 'it takes back the conversation together with the files',
}

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
export function refuseCommon(options: SessionOptions): void {
  const { model, isolation } = options
  if (model !== undefined && !model.includes('/'))
    throw new MainstemError('invalid_request', `model: opencode requires provider/model, not "${model}"`)
  if (isolation === 'bare')
    throw unsupported('opencode', 'isolation bare', 'its settings define its providers')
  refuseSet('opencode', options, {
    checkpointing: 'it manages its own checkpoints',
    fallbackModel: 'it has no such setting',
  })
}

/** Settings of version 1 without a flag; undefined if there are none. */
export function inlineSettings(options: SessionOptions): object | undefined {
  const { systemPrompt, subagents = {} } = options
  const prompt = systemPrompt?.replace
  const agent = {
    ...Object.fromEntries(
      Object.entries(subagents).map(([name, one]) => [name, { ...one, mode: 'subagent' }]),
    ),
    ...(prompt !== undefined && { build: { prompt } }),
  }
  const settings = {
    ...commonSettings(options),
    ...(Object.keys(agent).length > 0 && { agent }),
  }
  return Object.keys(settings).length > 0 ? settings : undefined
}

/** Settings that both versions read from the same keys. */
export function commonSettings({ mcpServers, skills }: SessionOptions): object {
  return {
    ...(mcpServers && { mcp: serversOf(mcpServers) }),
    ...(skills && { skills: { paths: skills } }),
  }
}

/** MCP servers, as its settings name them. */
function serversOf(servers: NonNullable<SessionOptions['mcpServers']>): Record<string, object> {
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
