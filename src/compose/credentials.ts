import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import type { AgentSetup, CredentialSource, Place } from '../agents/setup.ts'
import { childEnvironment } from '../drivers/environment.ts'
import { namedVariables } from '../drivers/named-variables.ts'
import type { LaunchKind } from '../model/index.ts'
import type { Environment } from './paths.ts'

/** What an agent can be paid with, by name alone: no value and no login file is read. */
export type Credential = VariableCredential | { file: string }

interface VariableCredential {
  variable: string
  /** The one launch that looks at it. */
  launch?: LaunchKind
}

export interface Credentials {
  /** In the agent's order of precedence. */
  found: readonly Credential[]
  /** There may be one in a place that cannot be looked at. */
  hidden: boolean
}

/** The variables of a setup as the agent itself would see them: through the same allow-list, with its settings. */
export function agentEnvironment(
  { credentials = [], sessions }: AgentSetup,
  ours: Environment,
  settings: Readonly<Record<string, string>>,
): Environment {
  const places = [...credentials.flatMap(placesOf), sessions]
  const passEnv = [
    ...credentials.flatMap((source) => (source.kind === 'variable' ? [source.name] : [])),
    ...places.flatMap((place) => place?.variable ?? []),
  ]
  const context = { runId: '', env: settings }
  const child = childEnvironment(ours, { env: {}, passEnv }, context, '')
  const named = credentials.flatMap((source) =>
    source.kind === 'named' ? namedVariables(source.in, child) : [],
  )
  return childEnvironment(ours, { env: {}, passEnv: [...passEnv, ...named] }, context, '')
}

function placesOf(source: CredentialSource): Place[] {
  if (source.kind === 'file') return [source.place]
  return source.kind === 'named' ? [source.in] : []
}

export function findCredentials(
  sources: readonly CredentialSource[] | undefined,
  environment: Environment,
  platform: string,
): Credentials {
  if (!sources) return { found: [], hidden: true }
  const found: Credential[] = []
  let hidden = false
  for (const source of sources) {
    if (source.kind === 'hidden') hidden ||= source.platforms?.includes(platform) ?? true
    else found.push(...credentialAt(source, environment))
  }
  return { found, hidden }
}

function credentialAt(
  source: Exclude<CredentialSource, { kind: 'hidden' }>,
  environment: Environment,
): Credential[] {
  if (source.kind === 'file') {
    const file = pathOf(source.place, environment)
    return file !== undefined && isFile(file) ? [{ file }] : []
  }
  if (source.kind === 'named') {
    const names = new Set(namedVariables(source.in, environment))
    return [...names].filter((name) => environment[name]).map((variable) => ({ variable }))
  }
  const { name, values, launch } = source
  const value = environment[name]
  const counts = value && (values?.includes(value) ?? true)
  return counts ? [{ variable: name, ...(launch && { launch }) }] : []
}

/** Unknown only where nobody knows the home directory. */
export function pathOf({ base, variable, path }: Place, environment: Environment): string | undefined {
  const named = variable === undefined ? undefined : environment[variable]
  if (named) return resolve(named, path)
  const home = environment.HOME || accountHome()
  return home === undefined ? undefined : resolve(join(home, base), path)
}

/** Where programs look when HOME is not set. */
function accountHome(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    // An account without an entry has no home.
    return undefined
  }
}

function isFile(path: string): boolean {
  // A path in a directory that we may not enter throws, whatever the option says.
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  }
}
