import type { Agent } from '../agents/agent.ts'
import { agents as allAgents } from '../agents/index.ts'
import type { AgentSetup } from '../agents/setup.ts'
import type { Timers } from '../drivers/driver.ts'
import type { Capabilities, LaunchKind } from '../model/index.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import { agentAt } from '../sessions/recipes.ts'
import { askAgent, locate } from './agent-program.ts'
import { systemTimers } from './clock.ts'
import {
  agentEnvironment,
  type Credential,
  type Credentials,
  findCredentials,
  pathOf,
} from './credentials.ts'
import type { Environment } from './paths.ts'
import { type Fit, fitOf } from './program-version.ts'

/**
 * `missing`: there is no program. `broken`: it does not run. `needs_login`: nothing it could be paid with was found.
 * `installed`: the same, but there are places that cannot be looked at.
 */
export type AgentState = 'built_in' | 'missing' | 'broken' | 'needs_login' | 'installed' | 'ready'

/** What can be said about an agent without asking it to work. */
export interface AgentReadiness {
  id: string
  name: string
  state: AgentState
  /** The absolute path of its program. */
  program?: string
  version?: string
  /** The newest version that was tested, and the version beside it. */
  testedVersion?: string
  fit?: Fit
  launches: Partial<Record<LaunchKind, Capabilities>>
  /** Where the agent keeps its own sessions. */
  sessions?: string
  /** What there is to be billed: the first that its launch looks at, unless its own settings choose. */
  credentials: readonly Credential[]
  billedBySettings?: boolean
  /** What is wrong, or worth knowing. */
  note?: string
  /** The command that is the next step. */
  fix?: string
}

export interface ReadinessQuestion {
  /** Programs and variables set in the configuration, by agent id. */
  settings?: Readonly<Record<string, AgentSettings>>
  agents?: readonly Agent[]
  environment?: Environment
  platform?: string
  timers?: Timers
  /** Ends what was started to answer. */
  signal?: AbortSignal
}

/** Programs that are asked for their version at the same time. */
const AT_ONCE = 2

/** Which agents can be used, and what the others need. No model and no network is asked. */
export async function readiness({
  settings = {},
  agents = allAgents,
  environment = process.env,
  platform = process.platform,
  timers = systemTimers,
  signal = new AbortController().signal,
}: ReadinessQuestion = {}): Promise<AgentReadiness[]> {
  const around = { environment, platform, timers, signal }
  const answers = new Array<AgentReadiness>(agents.length)
  const open = agents.entries()
  const worker = async () => {
    // All workers take from one iterator, so that each agent has its turn once.
    for (const [index, agent] of open) {
      const own = Object.hasOwn(settings, agent.id) ? settings[agent.id] : undefined
      answers[index] = await lookAt(agent, own ?? {}, around)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return answers
}

type Around = Required<Pick<ReadinessQuestion, 'environment' | 'platform' | 'timers' | 'signal'>>

async function lookAt(agent: Agent, settings: AgentSettings, around: Around): Promise<AgentReadiness> {
  const { id, name, testedVersion, setup } = agent
  const launches = capabilitiesOf(agent)
  const known = { id, name, launches, ...(testedVersion !== undefined && { testedVersion }) }
  if (!setup) return { ...known, state: 'built_in', credentials: [] }
  if (setup.server) {
    return { ...known, ...serverState(setup.server, { ...around.environment, ...settings.env }) }
  }
  const environment = agentEnvironment(setup, around.environment, settings.env ?? {})
  const credentials = findCredentials(setup.credentials, environment, around.platform)
  const sessions = setup.sessions && pathOf(setup.sessions, environment)
  const told = {
    ...known,
    credentials: credentials.found,
    ...(setup.billedBySettings && { billedBySettings: true }),
    ...(sessions !== undefined && { sessions }),
  }
  const found = locate(id, setup, settings, environment.PATH ?? '')
  if (found.program === undefined) return { ...told, state: 'missing', ...next(found.note, found.fix) }
  const { program } = found
  const answer = await askAgent(program, setup, settings, around)
  const version = answer.version !== undefined && {
    version: answer.version,
    ...(testedVersion !== undefined && { fit: fitOf(answer.version, testedVersion) }),
  }
  if (answer.broken) return { ...told, program, state: 'broken', ...next(answer.note, setup.install) }
  const installed = agentAt(agent, answer.version)
  const offered = capabilitiesOf(installed)
  const login = loginOf(setup, credentials, Object.keys(offered))
  const notes = [answer.note, ...missingNotes(installed), login.note].filter((note) => note !== undefined)
  const note = notes.length === 0 ? undefined : notes.join('; ')
  return { ...told, launches: offered, program, ...version, state: login.state, ...next(note, login.fix) }
}

/** Whether the server answers is not asked: nothing here uses the network. */
function serverState(
  { url, token }: NonNullable<AgentSetup['server']>,
  environment: Environment,
): Pick<AgentReadiness, 'state' | 'credentials' | 'note'> {
  if (!environment[url]) {
    return { state: 'missing', credentials: [], note: `the address of its server has to be set: ${url}` }
  }
  if (environment[token]) return { state: 'ready', credentials: [{ variable: token }] }
  return { state: 'installed', credentials: [], note: `${token} is not set; its server may want one` }
}

function capabilitiesOf({ launches }: Agent): Partial<Record<LaunchKind, Capabilities>> {
  const { live, oneshot } = launches
  return {
    ...(live && { live: live.capabilities }),
    ...(oneshot && { oneshot: oneshot.capabilities }),
  }
}

/** Why the installed version has fewer launches than the tested one. */
function missingNotes({ missing = {} }: Agent): string[] {
  return Object.entries(missing).map(([launch, why]) => `no ${launch} launch: ${why}`)
}

function next(note: string | undefined, fix: string | undefined): { note?: string; fix?: string } {
  return { ...(note !== undefined && { note }), ...(fix !== undefined && { fix }) }
}

function loginOf(
  { free, login }: AgentSetup,
  { found, hidden }: Credentials,
  launches: readonly string[],
): { state: AgentState; note?: string; fix?: string } {
  const paid = launches.filter((launch) => found.some((one) => serves(one, launch)))
  if (paid.length === launches.length) return { state: 'ready' }
  if (free) return { state: 'ready', note: 'without a login it has its free models only' }
  const note = paid.length === 0 ? undefined : `what was found serves its ${paid.join()} launch only`
  return { state: hidden ? 'installed' : 'needs_login', ...next(note, login) }
}

function serves(credential: Credential, launch: string): boolean {
  return !('launch' in credential) || credential.launch === launch
}
