import type { McpServer, Policy, SessionOptions } from '../../model/index.ts'
import type { LaunchFile } from '../agent.ts'
import { compact } from '../fields.ts'
import { filePath, flagValue, unsupported } from '../option.ts'
import { tomlOf } from './toml.ts'
import { allowedServers, otherServers } from './tool-lists.ts'

const AGENT = 'codex'
const SCHEMA_FILE = 'schema.json'

/** What neither launch can do. */
export function refuseOptions({ checkpointing, isolation }: SessionOptions): void {
  if (checkpointing !== undefined) throw unsupported(AGENT, 'checkpointing', 'it keeps none')
  if (isolation !== undefined && isolation !== 'user')
    throw unsupported(AGENT, `isolation ${isolation}`, 'it cannot leave out the settings of a project')
}

/** Refuses a name that would not be one part of a dotted key. */
export function serverName(name: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(name)) return name
  throw unsupported(AGENT, `mcpServers.${name}`, 'a name of letters, digits, "_" and "-" is needed')
}

/** A server as Codex's configuration has it. */
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

/** Options of the one-shot launch, as arguments. */
export function execOptionArgs(options: SessionOptions, policy: Policy): string[] {
  refuseOptions(options)
  const { model, effort, systemPrompt, extraDirectories, outputSchema } = options
  if (systemPrompt?.replace !== undefined)
    throw unsupported(AGENT, 'systemPrompt.replace', 'only its live launch can replace it')
  const config = (key: string, value: string | undefined) =>
    value === undefined ? [] : [flagValue(AGENT, '--config', `${key}=${tomlOf(value)}`)]
  return [
    ...(model === undefined ? [] : [flagValue(AGENT, '--model', model)]),
    ...config('model_reasoning_effort', effort),
    ...config('developer_instructions', systemPrompt?.append),
    ...(extraDirectories ?? []).map((directory) => flagValue(AGENT, '--add-dir', directory)),
    ...Object.entries(allowedServers(options, policy)).map(([name, server]) => mcpServerArg(name, server)),
    ...Object.entries(otherServers(options, policy)).map(([name, settings]) =>
      flagValue(AGENT, '--config', `mcp_servers.${serverName(name)}=${tomlOf(settings)}`),
    ),
    ...(outputSchema ? [`--output-schema=${filePath(SCHEMA_FILE)}`] : []),
  ]
}

/** What the one-shot launch takes from files only. */
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
