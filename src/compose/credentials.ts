import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import type { AgentPath, AgentSetup, CredentialSource } from '../agents/setup.ts'
import { childEnvironment } from '../drivers/process/environment.ts'
import { namedVariables } from '../drivers/process/named-variables.ts'
import type { LaunchKind } from '../model/index.ts'
import type { Environment } from './paths.ts'

/** A credential of an agent, by name only: neither values nor login files are read. */
export type Credential = VariableCredential | { file: string }

interface VariableCredential {
  variable: string
  /** The only launch that reads it. */
  launch?: LaunchKind
}

export interface Credentials {
  /** In the agent's order of precedence. */
  found: readonly Credential[]
  /** A credential may exist in an inaccessible location. */
  hidden: boolean
}

/** The variables of a setup as the agent sees them: filtered by the same allow-list, with its settings. */
export function agentEnvironment(
  { credentials = [], sessions }: AgentSetup,
  ours: Environment,
  settings: Readonly<Record<string, string>>,
): Environment {
  const paths = [...credentials.flatMap(pathsOf), sessions]
  const passEnv = [
    ...credentials.flatMap((source) => (source.kind === 'variable' ? [source.name] : [])),
    ...paths.flatMap((path) => path?.variable ?? []),
  ]
  const context = { runId: '', env: settings }
  const child = childEnvironment(ours, { env: {}, passEnv }, context, '')
  const named = credentials.flatMap((source) =>
    source.kind === 'named' ? namedVariables(source.in, child) : [],
  )
  return childEnvironment(ours, { env: {}, passEnv: [...passEnv, ...named] }, context, '')
}

function pathsOf(source: CredentialSource): AgentPath[] {
  if (source.kind === 'file') return [source.location]
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
    const file = pathOf(source.location, environment)
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

/** Undefined only if the home directory is unknown. */
export function pathOf({ base, variable, path }: AgentPath, environment: Environment): string | undefined {
  const named = variable === undefined ? undefined : environment[variable]
  if (named) return resolve(named, path)
  const home = environment.HOME || accountHome()
  return home === undefined ? undefined : resolve(join(home, base), path)
}

/** The home directory that programs use when HOME is not set. */
function accountHome(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    // The account has no passwd entry and so no home directory.
    return undefined
  }
}

function isFile(path: string): boolean {
  // `statSync` throws for a path in an inaccessible directory, even with this option.
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  }
}
