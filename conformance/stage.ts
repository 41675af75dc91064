import { existsSync, globSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import {
  type AgentSession,
  type Entry,
  type Event,
  type Mainstem,
  MainstemError,
  mainstem,
  type PromptOptions,
  type SessionRequest,
  type Turn,
  type TurnResult,
} from '../src/index.ts'
import type { ScriptedModel } from '../src/testing/index.ts'
import type { Program } from './programs.ts'
import { processesOf } from './traces.ts'

export type Launch = 'live' | 'oneshot'

/** The scenario did not show what it tests. */
export class Missing extends Error {}

/** The scenario cannot be played with this program here, which is not a failure of the program. */
export class Unplayable extends Error {}

/** Ends a scenario that cannot show what it tests. */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Missing(what)
}

/** A finished turn: its result and its events. */
export interface FinishedTurn<T = unknown> extends TurnResult<T> {
  readonly events: readonly Event[]
}

export interface StageSetup {
  readonly program: Program
  readonly launch: Launch
  readonly command: string
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly model: ScriptedModel
  readonly signal: AbortSignal
  /** Marks its processes. */
  readonly cell: string
  /** A number in [0, 1) that repeats for the same seed. */
  readonly random: () => number
}

/** No sandbox and no questions: what most scenarios need in order to see a tool run. */
const FREE = { approval: 'auto-all', sandbox: 'full-access' } as const

const LOOK_MS = 20
const NOTICE_MS = 500
/** No minute of a day has this name. */
const EARLIER = 'T00-60'

/** The environment of a scenario: one program, one workspace, one scripted model. */
export class Stage implements AsyncDisposable {
  readonly program: Program
  readonly launch: Launch
  readonly cwd: string
  readonly model: ScriptedModel
  readonly signal: AbortSignal
  readonly cell: string
  readonly random: () => number
  /** How the program is started. */
  readonly settings: { readonly command: readonly [string]; readonly env: Readonly<Record<string, string>> }
  readonly #stem: Mainstem
  readonly #logs: Entry[][] = []
  readonly #reading: Promise<void>[] = []
  readonly #sessions: AsyncDisposable[] = []

  constructor({ program, launch, command, env, cwd, model, signal, cell, random }: StageSetup) {
    this.program = program
    this.launch = launch
    this.cwd = cwd
    this.model = model
    this.signal = signal
    this.cell = cell
    this.random = random
    this.settings = { command: [command], env }
    this.#stem = mainstem({ agents: { [program.agent]: this.settings } })
  }

  /** The logs of all sessions so far, each from its first entry. */
  get logs(): readonly (readonly Entry[])[] {
    return this.#logs
  }

  /** Opens a session that allows everything, unless the request says otherwise. */
  async session<T = unknown>(request: Partial<SessionRequest<T>> = {}): Promise<AgentSession<T>> {
    const { program, launch, cwd } = this
    const session = await this.#stem.session<T>({
      agent: program.agent,
      launch,
      cwd,
      policy: FREE,
      ...request,
    })
    this.#follow(session)
    return session
  }

  /** Opens a session that continues a copy of a conversation. */
  async fork(session: AgentSession): Promise<AgentSession> {
    const copy = await this.#stem.fork(session.id)
    this.#follow(copy)
    return copy
  }

  #follow(session: AgentSession<unknown>): void {
    const log: Entry[] = []
    this.#logs.push(log)
    this.#sessions.push(session)
    this.#reading.push(keep(session.entries(), log))
  }

  /** Plays a part of the script to its end; `during` sees the events as they come. */
  turn<T>(
    session: AgentSession<T>,
    script: string,
    { during, ...more }: PromptOptions & { during?: (event: Event) => void } = {},
  ): Promise<FinishedTurn<T>> {
    return this.played(session.prompt(this.line(script), more), during)
  }

  /** Reads a turn to its end. */
  async played<T>(turn: Turn<T>, during?: (event: Event) => void): Promise<FinishedTurn<T>> {
    const events: Event[] = []
    for await (const { event } of turn) {
      events.push(event)
      during?.(event)
    }
    return { ...(await turn.result()), events }
  }

  /** The prompt that starts a scenario. */
  line(script: string): string {
    return `SCENARIO:${script} CWD:${this.cwd} Please do what the script says.`
  }

  /** Settles when a file is in the workspace: the one sign that every program gives while a command runs. */
  async appears(path: string): Promise<void> {
    await this.until(() => existsSync(path))
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await setTimeout(LOOK_MS, undefined, { signal: this.signal })
  }

  /**
   * Settles when these and all other processes of this cell are gone, and their end was noticed. A process that exits has
   * no environment any more to recognise it by, and stays until its parent has noticed.
   */
  async areGone(pids: readonly number[]): Promise<void> {
    const isGone = (pid: number) => !existsSync(`/proc/${pid}`)
    await this.until(() => processesOf(this.cell).length === 0 && pids.every(isGone))
    await setTimeout(NOTICE_MS, undefined, { signal: this.signal })
  }

  /**
   * Lets a conversation that is over be resumed: its history gets the name of an earlier minute, instead of a wait for
   * the next one.
   */
  canResume(): void {
    const { namesByMinute } = this.program
    if (namesByMinute === undefined || this.launch !== 'live') return
    for (const path of globSync(join(this.settings.env.HOME ?? '', namesByMinute)))
      renameSync(path, path.replace(/T\d\d-\d\d/, EARLIER))
  }

  /** Everything that the model was asked, as one text. */
  get asked(): string {
    return JSON.stringify(this.model.requests.map(({ body }) => body))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // One by one, because a log has an end only when its session has one.
    for (const session of this.#sessions) await session[Symbol.asyncDispose]()
    await this.#stem[Symbol.asyncDispose]()
    await Promise.all(this.#reading)
  }
}

/** A log is read to its end; that it ends with everything else is no failure. */
async function keep(entries: AsyncIterable<Entry>, log: Entry[]): Promise<void> {
  try {
    for await (const entry of entries) log.push(entry)
  } catch (thrown) {
    if (!(thrown instanceof MainstemError)) throw thrown
  }
}

export function eventsOf<Type extends Event['type']>(
  events: readonly Event[],
  type: Type,
): Extract<Event, { type: Type }>[] {
  return events.filter((event): event is Extract<Event, { type: Type }> => event.type === type)
}
