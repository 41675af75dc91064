import type { Capabilities, Policy, SessionOptions } from '../../model/index.ts'
import { type Agent, type RemoteLaunch, recipe, type Start } from '../agent.ts'
import { accounted } from '../kit/accounted.ts'
import { NO_CAPABILITIES } from '../kit/no-capabilities.ts'
import { unsupported } from '../kit/option.ts'
import type { AgentSetup } from '../setup.ts'
import { codec } from './codec.ts'
import { dropped } from './ignored-fields.ts'
import { ID_PREFIX } from './state.ts'

/** The variables that hold the address of the server and its token. */
const server = { url: 'MAINSTEM_BOARD_URL', token: 'MAINSTEM_BOARD_TOKEN' }

const setup: AgentSetup = { server }

const capabilities: Capabilities = {
  ...NO_CAPABILITIES,
  interrupt: 'protocol',
  diffs: true,
  // The board reports only complete messages, so no partial message is ever shown.
  marksRetries: true,
}

/** Variables that a session may set; only the operator sets address and token. */
const AGENT = 'MAINSTEM_BOARD_AGENT'
const PROJECT = 'MAINSTEM_BOARD_PROJECT'

const launch: RemoteLaunch = {
  kind: 'remote',
  variables: server,
  opening: { tag: 'prompt', fields: { agentId: AGENT, projectId: PROJECT } },
  paths: {
    socket: '/ws/sessions/{id}',
    events: '/api/sessions/{id}/events',
    state: '/api/sessions/{id}',
    cancel: '/api/sessions/{id}/cancel',
  },
  names: { id: 'id', events: 'events', state: 'state', running: 'running' },
  idPrefix: ID_PREFIX,
}

/** An agent that a remote board server runs. */
export const board: Agent = {
  id: 'board',
  name: 'Board server',
  setup,
  launches: {
    live: recipe({
      capabilities,
      codec: accounted(codec, dropped),
      stream: 'sse',
      launch(start) {
        checkPolicy(start.policy)
        checkOptions(start.options)
        checkResume(start)
        return launch
      },
    }),
  },
}

/** The server enforces its own policy and accepts none, so only a policy without limits is supported. */
function checkPolicy({ approval, sandbox, ...limits }: Policy): void {
  if (approval !== 'auto-all')
    throw unsupported(
      'board',
      `approval ${approval}`,
      'its server does not forward approval requests; choose auto-all',
    )
  if (sandbox !== 'none' && sandbox !== 'full-access')
    throw unsupported('board', `sandbox ${sandbox}`, 'its server does not accept this setting')
  for (const limit of ['network', 'writableRoots', 'tools', 'maxSteps', 'maxBudgetUsd'] as const) {
    if (limits[limit] !== undefined)
      throw unsupported('board', limit, 'its server does not accept this setting')
  }
}

function checkOptions({ env = {}, isolation, ...options }: SessionOptions): void {
  const [wish] = Object.entries(options).find(([, value]) => value !== undefined) ?? []
  if (wish !== undefined) throw unsupported('board', wish, 'its server does not accept this setting')
  if (isolation !== undefined && isolation !== 'user')
    throw unsupported('board', `isolation ${isolation}`, 'its server uses its own settings')
  // A caller that could choose the address would receive the operator's token.
  const foreign = Object.keys(env).find((name) => name !== AGENT && name !== PROJECT)
  if (foreign !== undefined)
    throw unsupported('board', `env.${foreign}`, `there is no process; only ${AGENT} and ${PROJECT} are read`)
}

/** Later in the same session the codec rejects a second prompt. */
function checkResume({ resume, epoch }: Start): void {
  if (resume !== undefined && epoch === 1)
    throw unsupported('board', 'resume', 'its sessions accept one prompt each')
}
