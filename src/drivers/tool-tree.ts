import { type ProcessInfo, withDescendants } from './process-table.ts'
import type { Tree } from './terminate.ts'

/** The part of a run that tools of one turn started in sessions of their own, with everything below. */
export class ToolTree implements Tree {
  readonly #run: Tree
  readonly #session: number | undefined
  readonly #since: number
  readonly #until: number
  #known = new Set<string>()

  /** `session` is that of the agent. Its processes are the agent's to end. */
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
    // A program that loses its parent stays in the tree.
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
