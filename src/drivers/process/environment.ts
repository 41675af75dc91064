import type { ProcessLaunch } from '../../agents/agent.ts'
import type { RunContext } from '../driver.ts'
import { joinSettings } from './join-settings.ts'
import { namedVariables } from './named-variables.ts'

/** The variable that marks every process of a run. Children inherit it in every session they move to. */
export const RUN_MARKER = 'MAINSTEM_RUN'

/** The id of a run with its owner, so that all runs of one owner can be found without a list of them. */
export function ownedRun(owner: string, runId: string): string {
  return `${owner}.${runId}`
}

/** The variable that holds the temporary directory of a run. */
export const FOLDER_MARKER = 'TMPDIR'

/** Variables of Mainstem itself, including tokens. No child receives one, even if its launch requests it. */
const OUR_PREFIX = 'MAINSTEM_'

/**
 * Variables that every program of this user needs: identity, locale and network access. Includes proxies and
 * certificates, because an agent cannot reach its model without them.
 */
const COMMON: readonly string[] = [
  ...['PATH', 'HOME', 'SHELL', 'USER', 'LOGNAME', 'LANG', 'LC_*', 'TZ'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ...['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
]

/** Builds the environment of a child, including the variables that the agent's settings name. */
export function environmentOf(
  ours: Readonly<Record<string, string | undefined>>,
  launch: Pick<ProcessLaunch, 'env' | 'passEnv' | 'joinedEnv' | 'passNamedIn'>,
  context: Pick<RunContext, 'runId' | 'env' | 'keys' | 'protect'>,
  temporary: string,
): Record<string, string> {
  const child = childEnvironment(ours, launch, context, temporary)
  if (!launch.passNamedIn) {
    context.protect?.({ environment: child })
    return child
  }
  const names = namedVariables(launch.passNamedIn, child)
  const passEnv = [...launch.passEnv, ...names]
  const environment = childEnvironment(ours, { ...launch, passEnv }, context, temporary)
  context.protect?.({ environment, named: names.flatMap((name) => environment[name] ?? []) })
  return environment
}

/** Builds the complete environment of a child from an allow-list. It never copies the environment of this process. */
export function childEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  launch: Pick<ProcessLaunch, 'env' | 'passEnv' | 'joinedEnv'>,
  context: Pick<RunContext, 'runId' | 'env' | 'keys'>,
  temporary: string,
): Record<string, string> {
  const given = {
    ...allowed(ours, [...COMMON, ...launch.passEnv]),
    ...allowed(context.keys ?? {}, launch.passEnv),
  }
  return {
    ...given,
    TERM: 'dumb',
    NO_COLOR: '1',
    [FOLDER_MARKER]: temporary,
    ...launch.env,
    ...context.env,
    ...joined(launch, { ...given, ...context.env }),
    // Set last: a child that could choose its marker could hide from the sweep.
    [RUN_MARKER]: context.runId,
  }
}

/** The settings of a launch, on top of those that its variables already have. */
function joined(
  { joinedEnv = [], env }: Pick<ProcessLaunch, 'env' | 'joinedEnv'>,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const name of joinedEnv) {
    const own = env[name]
    if (own !== undefined) variables[name] = joinSettings(given[name] ?? '', own)
  }
  return variables
}

function allowed(
  variables: Readonly<Record<string, string | undefined>>,
  patterns: readonly string[],
): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || name.startsWith(OUR_PREFIX)) continue
    if (patterns.some((pattern) => matches(pattern, name))) passed[name] = value
  }
  return passed
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
