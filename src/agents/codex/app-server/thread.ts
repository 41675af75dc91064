import type { Policy, SessionOptions } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import { compact, type Fields, fields } from '../../kit/fields.ts'
import { unsupported } from '../../kit/option.ts'
import { mcpServerConfig, refuseLateInstructions, refuseOptions, serverName } from '../options.ts'
import { approvalPolicy, sandboxMode, workspaceLimits } from '../policy.ts'
import { allowedServers, otherServers, toolSettings } from '../tool-lists.ts'

/** Codex rejects settings of a server without a transport. Disabled, its command never runs. */
const UNDEFINED_SERVER = { command: 'false', enabled: false }

export const MODES = ['default', 'plan']
export const HAS_MODES = `it has the modes ${MODES.join(' and ')}`

/** The parameters of a thread. They are passed on stdin, so none is visible on a command line. */
export function threadParams(start: Start, settings?: Fields): Fields {
  const { cwd, policy, options, mode } = start
  if (mode !== undefined && !MODES.includes(mode)) throw unsupported('codex', `mode ${mode}`, HAS_MODES)
  refuseOptions(options)
  refuseLateInstructions(start)
  const { model, systemPrompt } = options
  const config = configOf(policy, options, settings)
  return compact({
    cwd,
    model,
    approvalPolicy: approvalPolicy(policy),
    sandbox: sandboxMode(policy),
    config: Object.keys(config).length === 0 ? undefined : config,
    developerInstructions: systemPrompt?.append,
    baseInstructions: systemPrompt?.replace,
  })
}

function configOf(policy: Policy, options: SessionOptions, settings: Fields = {}): Fields {
  const defined = fields(settings, 'mcp_servers')
  const roots = [...(policy.writableRoots ?? []), ...(options.extraDirectories ?? [])]
  const limits = { ...workspaceLimits(policy), ...(roots.length > 0 && { writable_roots: roots }) }
  const servers = [
    ...Object.entries(allowedServers(options, policy)).map(([name, server]) => [
      name,
      mcpServerConfig(name, server),
    ]),
    ...Object.entries(otherServers(options, policy, defined)).map(([name, denied]) => [
      serverName(name),
      name in defined ? denied : UNDEFINED_SERVER,
    ]),
  ]
  return {
    ...toolSettings(policy),
    ...(Object.keys(limits).length > 0 && { sandbox_workspace_write: limits }),
    ...(servers.length > 0 && { mcp_servers: Object.fromEntries(servers) }),
  }
}

/** A policy for later turns. A turn specifies its sandbox with a different type than a thread. */
export function turnPolicy(policy: Policy): Fields {
  return compact({ approvalPolicy: approvalPolicy(policy), sandboxPolicy: sandboxPolicy(policy) })
}

function sandboxPolicy({ sandbox, network = false, writableRoots = [] }: Policy): Fields | undefined {
  switch (sandbox) {
    case 'none':
      return undefined
    case 'full-access':
      return { type: 'dangerFullAccess' }
    case 'read-only':
      return { type: 'readOnly', networkAccess: false }
    case 'workspace-write':
      return {
        type: 'workspaceWrite',
        writableRoots,
        networkAccess: network,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      }
    default:
      return sandbox satisfies never
  }
}
