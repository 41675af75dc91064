import type { OpenFile, ProcessIdentity, ProcessInfo, ProcessTable } from '../tree/process-table.ts'

/** A process may hand its output to another between two looks, so one look without a holder proves nothing. */
const MISSES = 2

/**
 * Notices that an agent has closed its output while it lives, which a file does not show as a pipe does: the launcher
 * keeps the file open until the agent exits.
 */
export class OutputHolders {
  readonly #table: ProcessTable
  readonly #output: OpenFile
  readonly #members: () => Promise<readonly ProcessInfo[]>
  /** The process that had the file open at the last look. */
  #holder: number | undefined
  #misses = 0
  #isLooking = false

  /** `members` lists the processes of the run. */
  constructor(table: ProcessTable, output: OpenFile, members: () => Promise<readonly ProcessInfo[]>) {
    this.#table = table
    this.#output = output
    this.#members = members
  }

  /** True once no process but the launcher has the output open, although others live. Call it repeatedly. */
  async isClosed(launcher: ProcessIdentity): Promise<boolean> {
    if (this.#isLooking || (this.#holder !== undefined && this.#isHeldBy(this.#holder))) return false
    this.#isLooking = true
    try {
      const others = (await this.#members()).filter(({ pid }) => pid !== launcher.pid)
      // Before the launcher has opened the file, or started the agent.
      if (others.length === 0 || !this.#isHeldBy(launcher.pid)) return false
      this.#holder = others.find(({ pid }) => this.#isHeldBy(pid))?.pid
      this.#misses = this.#holder === undefined ? this.#misses + 1 : 0
      return this.#misses >= MISSES
    } finally {
      this.#isLooking = false
    }
  }

  #isHeldBy(pid: number): boolean {
    return this.#table.hasOpen(pid, this.#output)
  }
}
