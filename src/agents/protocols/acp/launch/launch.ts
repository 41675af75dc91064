import type { Capabilities, Policy, SessionOptions } from '../../../../model/index.ts'
import type { Launch, ProcessLaunch, Start } from '../../../agent.ts'
import { NO_CAPABILITIES } from '../../../kit/no-capabilities.ts'
import { unsupported } from '../../../kit/option.ts'
import { checkCell } from '../settings.ts'
import { type AcpQuirks, PLAIN, quirksAt } from './quirks.ts'

/** The capabilities of the protocol; each agent's command lists its additional ones. */
export const ACP_CAPABILITIES: Capabilities = {
  ...NO_CAPABILITIES,
  deltas: true,
  thinking: 'raw',
  permissions: true,
  planApproval: true,
  interrupt: 'protocol',
  resume: true,
  images: true,
  setModel: true,
  setMode: true,
  diffs: true,
  plans: true,
  mcp: true,
}

/** The protocol sets mode, model and effort after the start, so the command line never changes. */
export function acpLaunch(
  agent: string,
  start: Start,
  quirks: AcpQuirks | undefined,
  launch: Omit<ProcessLaunch, 'kind'>,
): Launch {
  const known = quirksAt(quirks ?? PLAIN, start.version)
  checkPolicy(agent, start.policy, known)
  checkOptions(agent, start.options, known)
  return { kind: 'process', ...launch }
}

function checkPolicy(agent: string, policy: Policy, quirks: AcpQuirks): void {
  checkCell(agent, policy, quirks)
  const no = (option: string, why: string) => unsupported(agent, option, why)
  if (policy.network !== undefined) throw no('network', 'the protocol does not support it')
  if (policy.writableRoots) throw no('writableRoots', 'the protocol does not support them')
  if (policy.tools) throw no('tools', 'the protocol cannot choose among its tools')
  if (policy.maxSteps !== undefined && !quirks.tellsSteps)
    throw no('maxSteps', 'it does not report individual model calls')
  if (policy.maxBudgetUsd !== undefined) throw no('maxBudgetUsd', 'it reports cost only at the end of a turn')
}

const REFUSED = [
  'systemPrompt',
  'extraDirectories',
  'outputSchema',
  'checkpointing',
  'fallbackModel',
  'subagents',
  'skills',
] as const satisfies (keyof SessionOptions)[]

function checkOptions(agent: string, options: SessionOptions, { serversByUrl }: AcpQuirks): void {
  for (const option of REFUSED) {
    if (options[option] !== undefined) throw unsupported(agent, option, 'the protocol does not support it')
  }
  if (options.isolation !== undefined && options.isolation !== 'user') {
    throw unsupported(agent, `isolation ${options.isolation}`, 'it always loads its own settings')
  }
  for (const [name, server] of Object.entries(options.mcpServers ?? {})) {
    const { trust, includeTools, excludeTools } = server
    if (trust !== undefined || includeTools || excludeTools) {
      throw unsupported(
        agent,
        `mcpServers.${name}`,
        'the protocol cannot trust or filter the tools of one server',
      )
    }
    if (server.url === undefined && server.command === undefined) {
      throw unsupported(agent, `mcpServers.${name}`, 'it has neither a command nor a url')
    }
    if (server.url === undefined && serversByUrl) {
      throw unsupported(agent, `mcpServers.${name}`, 'it accepts servers by url only')
    }
  }
}
