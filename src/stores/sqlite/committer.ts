import { MainstemError } from '../../model/index.ts'
import { storageFailed } from '../storage-failed.ts'
import type { Commit, Probe, Removal } from './message.ts'
import type { WriterChannel } from './writer-channel.ts'

/** The limit of text per transaction. */
const COMMIT_CHARS = 8 * 1024 * 1024

/** A write that can share a transaction with others. */
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
 * Group commit: one transaction at a time; writes that arrive meanwhile share the next one. Groups grow with the
 * latency of the disk, and an idle disk adds no delay.
 */
export class Committer {
  readonly #channel: WriterChannel
  readonly #onFailure: () => void
  #queue: Waiting[] = []
  #running: Promise<void> | undefined
  #underway: Promise<void> | undefined
  #closed = false

  /** `onFailure` runs before the waiting promises reject. */
  constructor(channel: WriterChannel, onFailure: () => void) {
    this.#channel = channel
    this.#onFailure = onFailure
  }

  /** Resolves when the write is committed. */
  write(work: Batched | Removal | Probe): Promise<void> {
    if (this.#closed) return Promise.reject(new MainstemError('storage_failed', 'the store is closed'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ work, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Settles when the running transaction is acknowledged or has failed; undefined if none runs. */
  get underway(): Promise<void> | undefined {
    return this.#underway
  }

  /** Refuses further writes. Settles when the queue is empty. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #run(): Promise<void> {
    // Writes of the same tick join this transaction.
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
        // Later batches were numbered on the assumption that this one succeeds.
        this.#queue = []
        this.#onFailure()
      }
      for (const { reject } of [...group, ...after]) reject(error)
      return
    }
    for (const { resolve } of group) resolve()
  }

  /** Takes writes from the front of the queue. A removal or a probe runs alone, to keep the order. */
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

/** Wrote nothing, so later writes do not depend on it. */
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
