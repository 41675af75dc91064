import type { ServerLaunch } from '../../agents/agent.ts'
import {
  type ChildKeys,
  type LastingRuns,
  type LeftRun,
  NOTHING_WRITTEN,
  type OutputPosition,
  type Run,
  type RunContext,
  type WriteState,
} from '../driver.ts'
import { SpoolFolder } from '../spool/spool-folder.ts'
import type { SpoolDriver } from '../spool.ts'
import { factsOf, type ServedLaunch, ServerFolder, servedBy } from './server-folder.ts'
import type { LastingServer, ServerRun } from './server-run.ts'
import { ServerSecret } from './server-secret.ts'

type OpenServer = (
  program: Run,
  launch: ServedLaunch,
  secret: ServerSecret,
  values: RunContext['values'],
  lasting?: LastingServer,
) => ServerRun

/**
 * Servers that outlive this process, beside the programs that do. A later process finds one by its address; what a
 * server reported in between is in no file, so the codec reads it from the history that the server keeps.
 */
export class LastingServers implements LastingRuns {
  readonly #programs: SpoolDriver
  readonly #servers: SpoolDriver
  readonly #root: string
  readonly #run: OpenServer

  /** `servers` starts the programs of servers; `programs` has all other runs. Both have the folders in `root`. */
  constructor(programs: SpoolDriver, servers: SpoolDriver, root: string, run: OpenServer) {
    this.#programs = programs
    this.#servers = servers
    this.#root = root
    this.#run = run
  }

  start(launch: ServerLaunch, context: RunContext, secret: ServerSecret): Run {
    const folder = this.#folder(context.runId)
    const facts = factsOf(launch, secret.password)
    folder.keep(facts)
    const input = launch.endsWithInput ? 'open' : 'none'
    const program = this.#servers.start({ ...launch, kind: 'process' }, { ...context, lasting: { input } })
    return this.#run(program, launch, secret, context.values, { folder, facts, calls: 0 })
  }

  attach(runId: string, from: OutputPosition, context: Pick<RunContext, 'values'>): Run {
    const folder = this.#folder(runId)
    const { facts } = folder
    if (!facts) return this.#programs.attach(runId, from, context)
    const program = this.#servers.attach(runId, from, context)
    const secret = new ServerSecret(facts.user, facts.password)
    const lasting = { folder, facts, calls: from.calls ?? 0 }
    return this.#run(program, servedBy(facts), secret, context.values, lasting)
  }

  written(runId: string): WriteState {
    const folder = this.#folder(runId)
    return folder.facts ? { ...NOTHING_WRITTEN, doubtful: folder.begun } : this.#programs.written(runId)
  }

  keys(runId: string): ChildKeys | undefined {
    const keys = this.#programs.keys(runId)
    const { facts } = this.#folder(runId)
    return keys && facts ? withLogin(keys, new ServerSecret(facts.user, facts.password), facts) : keys
  }

  prepare(runId: string, frame: number): void {
    this.#programs.prepare(runId, frame)
  }

  keep(runId: string, frame: number, text: string): void {
    this.#programs.keep(runId, frame, text)
  }

  kept(runId: string, committed: number): ReadonlyMap<number, string> {
    return this.#programs.kept(runId, committed)
  }

  frame(stream: string, text: string) {
    return this.#programs.frame(stream, text)
  }

  left(): Promise<ReadonlyMap<string, LeftRun>> {
    return this.#programs.left()
  }

  remove(runId: string): Promise<void> {
    return this.#programs.remove(runId)
  }

  terminate(runId: string): Promise<readonly number[]> {
    return this.#programs.terminate(runId)
  }

  #folder(runId: string): ServerFolder {
    return new ServerFolder(SpoolFolder.of(this.#root, runId))
  }
}

/** The password is no variable of a principal: it is masked as a login, in all of its forms. */
export function withLogin(
  keys: ChildKeys,
  secret: ServerSecret,
  { passwordVariables }: { passwordVariables: readonly string[] },
): ChildKeys {
  const others = Object.entries(keys.environment).filter(([name]) => !passwordVariables.includes(name))
  return { ...keys, environment: Object.fromEntries(others), login: secret.forms }
}
