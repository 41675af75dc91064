import type { CommitLog, StoredCommit } from '../nodes.ts'
import { WakeUps } from '../wake-ups.ts'

type Committed = Pick<StoredCommit, 'session' | 'principal' | 'seq' | 'count'>

/** The commits of several servers in one process. A position is the number of commits, and of entries of the next. */
export class MemoryCommitLog implements CommitLog {
  readonly #commits: Committed[] = []
  readonly #wakeUps = new WakeUps()

  add(commit: Committed): void {
    this.#commits.push(commit)
    this.#wakeUps.wake('commit')
  }

  async epoch(): Promise<string> {
    return '00000001'
  }

  async head(): Promise<string> {
    return `${this.#commits.length}.0`
  }

  async isBeyondHead(position: string): Promise<boolean> {
    const [commits, read] = numbersOf(position)
    return commits > this.#commits.length || read > (this.#commits[commits]?.count ?? 0)
  }

  async after(position: string): Promise<readonly StoredCommit[]> {
    const [from, read] = numbersOf(position)
    const found = this.#commits.slice(from).map((commit, index) => ({
      ...commit,
      position: `${from + index}`,
      read: index === 0 ? read : 0,
    }))
    return found.filter((commit) => commit.read < commit.count)
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#wakeUps.wait('commit', signal)
  }
}

function numbersOf(position: string): [commits: number, read: number] {
  const [commits = 0, read = 0] = position.split('.').map(Number)
  return [commits, read]
}
