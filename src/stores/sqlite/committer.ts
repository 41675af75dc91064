import { MainstemError } from '../../model/index.ts'
import { storageFailed } from '../storage-failed.ts'
import type { Commit, Probe, Removal } from './message.ts'
import type { WriterChannel } from './writer-channel.ts'

/** A transaction takes what has gathered, but no more text than this. */
const COMMIT_CHARS = 8 * 1024 * 1024

/** What is committed together with whatever else waits. */
export interface Batched {
  kind: 'batch'
  chars: number
  addTo(commit: Commit): void
}

interface Waiting {
  work: Batched | Removal | Probe
  resolve(): void
  reject(error: unknown): void
}

/**
 * One transaction at a time; what comes while it runs goes into the next. So the slower the disk, the larger
 * the groups, and a disk that is idle is not waited for.
 */
export class Committer {
  readonly #channel: WriterChannel
  readonly #onFailure: () => void
  #queue: Waiting[] = []
  #running: Promise<void> | undefined
  #underway: Promise<void> | undefined
  #closed = false

  /** `onFailure` runs before those who wait are told. */
  constructor(channel: WriterChannel, onFailure: () => void) {
    this.#channel = channel
    this.#onFailure = onFailure
  }

  /** Settles when it is committed. */
  write(work: Batched | Removal | Probe): Promise<void> {
    if (this.#closed) return Promise.reject(new MainstemError('storage_failed', 'the store is closed'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ work, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Settles when the transaction that runs now is acknowledged or has failed; undefined while none runs. */
  get underway(): Promise<void> | undefined {
    return this.#underway
  }

  /** Takes no more, and settles when nothing waits. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #run(): Promise<void> {
    // What the same tick has to say goes along.
    await Promise.resolve()
    while (this.#queue.length > 0) {
      this.#underway = this.#commit()
      await this.#underway
    }
    this.#underway = undefined
    this.#running = undefined
  }

  async #commit(): Promise<void> {
    const group = this.#take()
    try {
      await this.#channel.ask(messageOf(group))
    } catch (thrown) {
      const error = storageFailed('cannot write to the store', thrown)
      const after = isProbe(group) ? [] : this.#queue
      if (!isProbe(group)) {
        // What waits behind it was numbered as if it had gone well.
        this.#queue = []
        this.#onFailure()
      }
      for (const { reject } of [...group, ...after]) reject(error)
      return
    }
    for (const { resolve } of group) resolve()
  }

  /** From the front of the queue; a removal or a probe goes alone, because it must not overtake or be overtaken. */
  #take(): Waiting[] {
    let chars = 0
    const end = this.#queue.findIndex(({ work }, index) => {
      if (work.kind !== 'batch') return true
      chars += work.chars
      return chars > COMMIT_CHARS && index > 0
    })
    if (end === -1) return this.#queue.splice(0)
    return this.#queue.splice(0, Math.max(1, end))
  }
}

/** Nothing was written, so nothing depends on it. */
function isProbe([first]: readonly Waiting[]): boolean {
  return first?.work.kind === 'probe'
}

function messageOf(group: readonly Waiting[]): Commit | Removal | Probe {
  const commit: Commit = {
    kind: 'commit',
    sessions: [],
    leases: [],
    log: { texts: [], numbers: [] },
    journal: { texts: [], numbers: [] },
    frameCounts: [],
    records: [],
    dequeued: [],
    queued: [],
    receipts: [],
    blobs: [],
    charges: [],
  }
  for (const { work } of group) {
    if (work.kind !== 'batch') return work
    work.addTo(commit)
  }
  return commit
}
