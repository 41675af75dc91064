import { type Agent, recipe } from '../agent.ts'
import { acpCodec } from '../protocols/acp/codec.ts'
import { ACP_CAPABILITIES, acpLaunch } from '../protocols/acp/launch/launch.ts'
import { type AcpEntry, REGISTRY } from './registry.ts'
import { setupOf } from './setup.ts'

/** Any agent that implements the protocol. Its command comes from the configuration; `acp` is a placeholder. */
const ANY: AcpEntry = { id: 'acp', name: 'Any ACP agent', command: ['acp'], passEnv: [] }

/** The protocol names the other commands of an agent. */
const NO_FORK = { fork: 'it is not verified with this agent' }
const NO_REWIND = { rewind: 'the protocol cannot restore files' }

/** The generic agent first, then every agent of the registry under its id. */
export const acpAgents: readonly Agent[] = [ANY, ...REGISTRY].map(agentOf)

function agentOf(entry: AcpEntry): Agent {
  const { id, name, command, passEnv, env, testedVersion, quirks, capabilities } = entry
  const { stopCode, leavesTools, lacks } = entry
  return {
    id,
    name,
    ...(testedVersion !== undefined && { testedVersion }),
    setup: setupOf(id, command[0]),
    launches: {
      live: recipe({
        codec: acpCodec(quirks),
        capabilities: { ...ACP_CAPABILITIES, ...capabilities },
        ...(stopCode !== undefined && { stopCode }),
        ...(leavesTools && { leavesTools }),
        lacks: { ...(!capabilities?.verbs?.includes('fork') && NO_FORK), ...NO_REWIND, ...lacks },
        launch: (start) =>
          acpLaunch(id, start, quirks, { argv: command, env: env?.(start.policy) ?? {}, passEnv }),
      }),
    },
  }
}
