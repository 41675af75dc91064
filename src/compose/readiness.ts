import type { Agent } from '../agents/agent.ts'
import { agents as allAgents } from '../agents/index.ts'
import type { AgentSetup } from '../agents/setup.ts'
import type { Timers } from '../drivers/driver.ts'
import type { Capabilities, LaunchKind } from '../model/index.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import { untestedBecause } from '../sessions/machine/version-notice.ts'
import { agentAt } from '../sessions/process/recipes.ts'
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
 * Whether an agent can be used. `missing`: its program is not installed. `broken`: its program does not run.
 * `needs_login`: no credential was found. `installed`: no credential was found, but some places cannot be searched.
 */
export type AgentState = 'built_in' | 'missing' | 'broken' | 'needs_login' | 'installed' | 'ready'

/** Whether an agent is installed and logged in, and what it supports. */
export interface AgentReadiness {
  /** The id of the agent. */
  id: string
  /** The name of the agent for people. */
  name: string
  /** Whether the agent can be used. */
  state: AgentState
  /** The absolute path of its program. */
  program?: string
  /** The version of its program. */
  version?: string
  /** The newest version that was tested. */
  testedVersion?: string
  /** How the installed version compares with the tested one. */
  fit?: Fit
  /** Why the installed program is not among the tested ones, as the end of a sentence; absent if it is. */
  untested?: string
  /** The launches that the agent has, with their features. */
  launches: Partial<Record<LaunchKind, Capabilities>>
  /** The directory of the agent's own sessions. */
  sessions?: string
  /** The credentials that were found. The agent uses the first, unless its own settings choose. */
  credentials: readonly Credential[]
  /** True if the agent's own settings choose the credential. */
  billedBySettings?: boolean
  /** A problem or a remark for people. */
  note?: string
  /** The command that fixes the problem. */
  fix?: string
}

export interface ReadinessQuestion {
  /** Programs and variables from the configuration, by agent id. */
  settings?: Readonly<Record<string, AgentSettings>>
  agents?: readonly Agent[]
  /** The ids of the agents to check; all by default. */
  only?: readonly string[]
  environment?: Environment
  platform?: string
  timers?: Timers
  /** Aborting it stops the programs started for this check. */
  signal?: AbortSignal
}

/** The ids of all agents, installed or not. */
export function agentIds(): string[] {
  return allAgents.map(({ id }) => id)
}

/** The number of programs queried in parallel. */
const AT_ONCE = 2

/** Determines which agents can be used, and what is missing for the others. Uses no model and no network. */
export async function readiness({
  settings = {},
  agents: known = allAgents,
  only,
  environment = process.env,
  platform = process.platform,
  timers = systemTimers,
  signal = new AbortController().signal,
}: ReadinessQuestion = {}): Promise<AgentReadiness[]> {
  const agents = only ? known.filter(({ id }) => only.includes(id)) : known
  const context = { environment, platform, timers, signal }
  const answers = new Array<AgentReadiness>(agents.length)
  const open = agents.entries()
  const worker = async () => {
    // All workers share one iterator, so that each agent is checked once.
    for (const [index, agent] of open) {
      const own = Object.hasOwn(settings, agent.id) ? settings[agent.id] : undefined
      answers[index] = await checkAgent(agent, own ?? {}, context)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return answers
}

type CheckContext = Required<Pick<ReadinessQuestion, 'environment' | 'platform' | 'timers' | 'signal'>>

async function checkAgent(
  agent: Agent,
  settings: AgentSettings,
  context: CheckContext,
): Promise<AgentReadiness> {
  const { id, name, testedVersion, setup } = agent
  const launches = capabilitiesOf(agent)
  const known = { id, name, launches, ...(testedVersion !== undefined && { testedVersion }) }
  if (!setup) return { ...known, state: 'built_in', credentials: [] }
  if (setup.server) {
    return { ...known, ...serverState(setup.server, { ...context.environment, ...settings.env }) }
  }
  const environment = agentEnvironment(setup, context.environment, settings.env ?? {})
  const credentials = findCredentials(setup.credentials, environment, context.platform)
  const sessions = setup.sessions && pathOf(setup.sessions, environment)
  const status = {
    ...known,
    credentials: credentials.found,
    ...(setup.billedBySettings && { billedBySettings: true }),
    ...(sessions !== undefined && { sessions }),
  }
  const found = locate(id, setup, settings, environment.PATH ?? '')
  if (found.program === undefined)
    return { ...status, state: found.broken ? 'broken' : 'missing', ...next(found.note, found.fix) }
  const { program } = found
  const answer = await askAgent(program, setup, settings, context)
  if (answer.broken) return { ...status, program, state: 'broken', ...next(answer.note, setup.install) }
  const installed = agentAt(agent, answer.version)
  const offered = capabilitiesOf(installed)
  const login = loginOf(setup, credentials, Object.keys(offered))
  const notes = [answer.note, installed.unverified, login.note]
  const note = notes.filter((one) => one !== undefined).join('; ') || undefined
  const { testedVersion: _, ...others } = status
  return {
    ...others,
    name: installed.name,
    launches: offered,
    program,
    ...versionOf(installed, answer.version),
    state: login.state,
    ...next(note, login.fix),
  }
}

/** The installed version beside the one that was tested; another generation of the agent has its own. */
function versionOf(
  agent: Agent,
  version: string | undefined,
): Pick<AgentReadiness, 'version' | 'testedVersion' | 'fit' | 'untested'> {
  const { testedVersion } = agent
  const tested = testedVersion !== undefined && { testedVersion }
  const why = untestedWhy(agent, version)
  const untested = why !== undefined && { untested: why }
  if (version === undefined) return { ...tested, ...untested }
  return { version, ...tested, ...(tested && { fit: fitOf(version, tested.testedVersion) }), ...untested }
}

function untestedWhy(agent: Agent, version: string | undefined): string | undefined {
  if (agent.testedVersion === undefined && agent.unverified === undefined)
    return 'not tested with Mainstem in any version'
  return version === undefined ? undefined : untestedBecause(version, agent)
}

/** Does not contact the server: this check uses no network. */
function serverState(
  { url, token }: NonNullable<AgentSetup['server']>,
  environment: Environment,
): Pick<AgentReadiness, 'state' | 'credentials' | 'note'> {
  if (!environment[url]) {
    return { state: 'missing', credentials: [], note: `set the address of its server: ${url}` }
  }
  if (environment[token]) return { state: 'ready', credentials: [{ variable: token }] }
  return { state: 'installed', credentials: [], note: `${token} is not set; its server may require one` }
}

function capabilitiesOf({ launches }: Agent): Partial<Record<LaunchKind, Capabilities>> {
  const { live, oneshot } = launches
  return {
    ...(live && { live: live.capabilities }),
    ...(oneshot && { oneshot: oneshot.capabilities }),
  }
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
  if (free) return { state: 'ready', note: 'without a login only its free models are available' }
  const note = paid.length === 0 ? undefined : `the credentials work for its ${paid.join()} launch only`
  return { state: hidden ? 'installed' : 'needs_login', ...next(note, login) }
}

function serves(credential: Credential, launch: string): boolean {
  return !('launch' in credential) || credential.launch === launch
}
