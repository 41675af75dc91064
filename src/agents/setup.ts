import type { LaunchKind } from '../model/index.ts'

/** A path below the home directory, or below the directory that a variable names instead. */
export interface AgentPath {
  /** The directory that the variable replaces, relative to home; empty for home itself. */
  base: string
  variable?: string
  path: string
}

/** A settings file that names variables. */
export interface NamedVariables extends AgentPath {
  /** Global; its first group is the name of a variable. It is matched line by line. */
  pattern: RegExp
}

/** A location where an agent looks for credentials. */
export type CredentialSource =
  /** Counts with any value, or only with one of `values`; for every launch, or only for one. */
  | { kind: 'variable'; name: string; values?: readonly string[]; launch?: LaunchKind }
  | { kind: 'file'; location: AgentPath }
  /** Variables with keys that the agent's settings name. */
  | { kind: 'named'; in: NamedVariables }
  /** An inaccessible location such as a keychain; on every platform, or only on these. */
  | { kind: 'hidden'; platforms?: readonly string[] }

/** How to query the version of a program. */
export interface VersionQuestion {
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Matches the version, as its first group, in a line of the output. */
  pattern: RegExp
}

/** The requirements of an agent, as data. Unknown properties are omitted. */
export interface AgentSetup {
  /** The name of its program. Without one, only the configuration can name it. */
  program?: string
  /** The agent runs on a remote server: the variables with its address and token. */
  server?: { url: string; token: string }
  version?: VersionQuestion
  /** The install command. */
  install?: string
  /** The login command. */
  login?: string
  /** In order of precedence. Omitted if the login state cannot be determined from outside. */
  credentials?: readonly CredentialSource[]
  /** The agent's settings, or the requested model, select among the credentials. */
  billedBySettings?: boolean
  /** The agent offers free models without a credential. */
  free?: boolean
  /** The directory of its native sessions. */
  sessions?: AgentPath
}

/** The usual version query. */
export const DASH_VERSION: VersionQuestion = {
  args: ['--version'],
  pattern: /^(\d+\.\d+\.\d+[\w.+-]*)$/,
}
