import type { LaunchKind } from '../model/index.ts'

/** A path below the home directory, or below the directory that a variable names instead. */
export interface Place {
  /** The directory that the variable replaces, from home; home itself when empty. */
  base: string
  variable?: string
  path: string
}

/** A settings file that names variables. */
export interface NamedVariables extends Place {
  /** Global; its first group is the name of a variable. It is matched line by line. */
  pattern: RegExp
}

/** Where an agent looks for what it is paid with. */
export type CredentialSource =
  /** Counts with any value, or only with one of `values`; for every launch, or only for one. */
  | { kind: 'variable'; name: string; values?: readonly string[]; launch?: LaunchKind }
  | { kind: 'file'; place: Place }
  /** Variables that hold keys and that the agent's own settings name. */
  | { kind: 'named'; in: NamedVariables }
  /** A place where nobody else can look, such as a keychain; on every platform, or only on these. */
  | { kind: 'hidden'; platforms?: readonly string[] }

/** How a program is asked for its version. */
export interface VersionQuestion {
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Finds the version, as its first group, in a line of what it prints. */
  pattern: RegExp
}

/** What an agent needs before it can work, as data. What is not known is left out. */
export interface AgentSetup {
  /** The name of its program. Without one, only the configuration can name it. */
  program?: string
  /** It runs on a server elsewhere: the variables that hold its address and its token. */
  server?: { url: string; token: string }
  version?: VersionQuestion
  /** A command that installs it. */
  install?: string
  /** A command that logs in. */
  login?: string
  /** In order of precedence. Left out where nobody outside can tell whether it is logged in. */
  credentials?: readonly CredentialSource[]
  /** Its own settings, or the model that is asked for, choose among the credentials. */
  billedBySettings?: boolean
  /** It has something to offer without any credential. */
  free?: boolean
  /** Where it keeps its own sessions. */
  sessions?: Place
}

/** The usual question. */
export const DASH_VERSION: VersionQuestion = {
  args: ['--version'],
  pattern: /^(\d+\.\d+\.\d+[\w.+-]*)$/,
}
