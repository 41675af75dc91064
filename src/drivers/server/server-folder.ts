import { closeSync, constants, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import type { ServerLaunch } from '../../agents/agent.ts'
import { tryJson } from '../../model/text/json.ts'
import type { SpoolFolder } from '../spool/spool-folder.ts'

/** What a later process needs to continue a server. */
export interface ServerFacts {
  user: string
  password: string
  passwordVariables: readonly string[]
  /** The source of the pattern that finds the port in its output. */
  listening: string
  /** Undefined until it listens. */
  port?: number | undefined
  events: string
  absent?: string
  endsWithInput?: true
  reopens?: true
  program: string
}

const FACTS = 'server.json'
const BEGUN = 'calls'

/** The files of a server in the folder of its run. */
export class ServerFolder {
  readonly #folder: SpoolFolder

  constructor(folder: SpoolFolder) {
    this.#folder = folder
  }

  /** Undefined for a run that is no server. */
  get facts(): ServerFacts | undefined {
    const text = this.#folder.read(FACTS)
    return text === '' ? undefined : JSON.parse(text)
  }

  keep(facts: ServerFacts): void {
    const path = this.#folder.file(FACTS)
    writeFileSync(`${path}.new`, JSON.stringify(facts), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  }

  /** How many calls were begun. The server may have those without a response. */
  get begun(): number {
    const begun = tryJson(this.#folder.read(BEGUN))
    return typeof begun === 'number' ? begun : 0
  }

  /** Call before each call is made. */
  begin(count: number): void {
    // Written in one piece and never shortened, so that the end of this process leaves a number.
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW
    const opened = openSync(this.#folder.file(BEGUN), flags, 0o600)
    try {
      writeSync(opened, String(count), 0)
    } finally {
      closeSync(opened)
    }
  }
}

export function factsOf(launch: ServerLaunch, password: string): ServerFacts {
  const { login, listening, events, absent, endsWithInput, reopens, argv } = launch
  return {
    user: login.user,
    password,
    passwordVariables: login.passwordVariables,
    listening: listening.source,
    events,
    ...(absent !== undefined && { absent }),
    ...(endsWithInput && { endsWithInput }),
    ...(reopens && { reopens }),
    program: argv[0],
  }
}

/** The part of a launch that a running server needs. */
export function servedBy(facts: ServerFacts): ServedLaunch {
  return { ...facts, listening: new RegExp(facts.listening), argv: [facts.program] }
}

export type ServedLaunch = Pick<
  ServerLaunch,
  'argv' | 'listening' | 'events' | 'absent' | 'endsWithInput' | 'reopens'
>
