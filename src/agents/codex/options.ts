import type { McpServer, SessionOptions } from '../../model/index.ts'
import type { LaunchFile, Start } from '../agent.ts'
import { compact } from '../kit/fields.ts'
import { filePath, flagValue, refuseSet, unsupported } from '../kit/option.ts'
import { tomlOf } from './toml.ts'
import { allowedServers, isRemoved, otherServers, SERVER_NAME } from './tool-lists.ts'

const AGENT = 'codex'
const SCHEMA_FILE = 'schema.json'

/** Rejects options that neither launch supports. */
export function refuseOptions(options: SessionOptions): void {
  const { isolation } = options
  refuseSet(AGENT, options, {
    checkpointing: 'it has no checkpoints of files',
    fallbackModel: 'it has no such setting',
    subagents: 'it reads them from settings files only',
  })
  if (isolation !== undefined && isolation !== 'user')
    throw unsupported(AGENT, `isolation ${isolation}`, 'it cannot ignore the settings of a project')
}

/** Rejects a name that is not one segment of a dotted key. */
export function serverName(name: string): string {
  if (SERVER_NAME.test(name)) return name
  throw unsupported(AGENT, `mcpServers.${name}`, 'the name may contain only letters, digits, "_" and "-"')
}

/** Converts a server to Codex's configuration format. */
export function mcpServerConfig(name: string, server: McpServer) {
  serverName(name)
  if (server.trust) throw unsupported(AGENT, `mcpServers.${name}.trust`, 'it asks for every server')
  const { command, args, env, url, headers, includeTools, excludeTools } = server
  return compact({
    command,
    args,
    env,
    url,
    http_headers: headers,
    enabled_tools: includeTools,
    disabled_tools: excludeTools,
  })
}

/** Codex gives these instructions to a conversation once, with its first turn. */
export function refuseLateInstructions({ resume, epoch, options }: Start): void {
  const isOther = resume !== undefined && epoch === 1
  if (!isOther || options.systemPrompt?.append === undefined) return
  const why = 'a resumed conversation keeps the instructions that it began with'
  throw unsupported(
    AGENT,
    'systemPrompt.append',
    why,
    'Leave it out, or use systemPrompt.replace and the live launch.',
  )
}

/** Converts options of the one-shot launch to arguments. */
export function execOptionArgs(start: Start): string[] {
  const { options, policy } = start
  refuseOptions(options)
  refuseLateInstructions(start)
  const { model, effort, systemPrompt, extraDirectories, outputSchema } = options
  if (systemPrompt?.replace !== undefined)
    throw unsupported(AGENT, 'systemPrompt.replace', 'only its live launch can replace it')
  refuseSet(AGENT, options, { skills: 'only its live launch accepts them' })
  // Codex rejects a denial of a server that its settings do not define: "invalid transport".
  if (Object.keys(otherServers(options, policy)).length > 0)
    throw unsupported(AGENT, 'tools.denied', 'only its live launch tells which servers its settings define')
  const config = (key: string, value: string | undefined) =>
    value === undefined ? [] : [flagValue(AGENT, '--config', `${key}=${tomlOf(value)}`)]
  return [
    ...(model === undefined ? [] : [flagValue(AGENT, '--model', model)]),
    ...config('model_reasoning_effort', effort),
    ...config('developer_instructions', systemPrompt?.append),
    ...(extraDirectories ?? []).map((directory) => flagValue(AGENT, '--add-dir', directory)),
    ...Object.entries(allowedServers(options, policy)).map(([name, server]) => mcpServerArg(name, server)),
    ...Object.entries(options.mcpServers ?? {})
      .filter(([name]) => isRemoved(policy, name))
      .map(([name, server]) => disabledServerArg(name, server)),
    ...(outputSchema ? [`--output-schema=${filePath(SCHEMA_FILE)}`] : []),
  ]
}

/** Options that the one-shot launch reads from files only. */
export function execFiles({ outputSchema }: SessionOptions): LaunchFile[] {
  return outputSchema ? [{ name: SCHEMA_FILE, text: JSON.stringify(outputSchema) }] : []
}

function mcpServerArg(name: string, server: McpServer): string {
  // Every user of the machine can read a command line.
  if (server.env || server.headers)
    throw unsupported(AGENT, `mcpServers.${name}`, 'only its live launch keeps env and headers private')
  const { env: _env, http_headers: _headers, ...config } = mcpServerConfig(name, server)
  return flagValue(AGENT, '--config', `mcp_servers.${name}=${tomlOf(config)}`)
}

/** Without it, a server of the same name in Codex's own settings would run. Codex requires the transport. */
function disabledServerArg(name: string, { command, url }: McpServer): string {
  const config = compact({ command, url, enabled: false })
  return flagValue(AGENT, '--config', `mcp_servers.${serverName(name)}=${tomlOf(config)}`)
}
