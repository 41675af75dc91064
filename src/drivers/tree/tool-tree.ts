import type { Tree } from '../process/terminate.ts'
import { type ProcessInfo, withDescendants } from './process-table.ts'

/** The processes of a run that tools of one turn started in separate sessions, with all descendants. */
export class ToolTree implements Tree {
  readonly #run: Tree
  readonly #session: number | undefined
  readonly #since: number
  readonly #until: number
  #known = new Set<string>()

  /** `session` is the agent's session. The agent terminates the processes in it. */
  constructor(run: Tree, session: number | undefined, since: number, until: number) {
    this.#run = run
    this.#session = session
    this.#since = since
    this.#until = until
  }

  async look(): Promise<readonly ProcessInfo[]> {
    const all = await this.#run.look()
    const tools = withDescendants(
      all.filter((process) => this.#isTool(process)),
      all,
    )
    // Remembered, so that a program that loses its parent stays in the tree.
    this.#known = new Set(tools.map(keyOf))
    return tools
  }

  signal(members: readonly ProcessInfo[], signal: NodeJS.Signals): void {
    this.#run.signal(members, signal)
  }

  #isTool(process: ProcessInfo): boolean {
    if (this.#known.has(keyOf(process))) return true
    const started = Number(process.started)
    return process.session !== this.#session && started >= this.#since && started <= this.#until
  }
}

function keyOf({ pid, started }: ProcessInfo): string {
  return `${pid} ${started}`
}
