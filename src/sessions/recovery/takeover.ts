import { isDamaged, MainstemError, type SessionRecord, toMainstemError } from '../../model/index.ts'
import { isImporting } from '../../model/owner.ts'
import type { SessionDeps } from '../deps.ts'
import { endedConflict } from '../ended-conflict.ts'
import { allRecords } from '../log/all-records.ts'
import type { Ownership } from './ownership.ts'
import { hasOpenWork, isTaskOver, settleRecord } from './recovery.ts'

/** A session that this server has leased. */
export interface LeasedSession {
  record: SessionRecord
  fence: number
}

type TakeoverDeps = Pick<SessionDeps, 'store' | 'clock' | 'sweep' | 'committed' | 'mayRun' | 'node'>

/** Takes sessions over from another owner, and closes what that owner left open. */
export class Takeover {
  readonly #deps: TakeoverDeps
  readonly #ownership: Ownership
  #swept: Promise<void> | undefined

  constructor(deps: TakeoverDeps, ownership: Ownership) {
    this.#deps = deps
    this.#ownership = ownership
  }

  /** Leases a session, and closes turns and requests that its last owner left open. */
  async take(id: string): Promise<LeasedSession> {
    const before = await this.#record(id)
    if (before.status === 'ended') throw endedConflict()
    const fence = await this.#ownership.acquire(id)
    // Read again: the last owner may have written until the lease.
    const record = await this.#record(id)
    if (!needsSettling(record)) return { record, fence }
    await this.#settle(record, fence)
    const settled = await this.#record(id)
    if (settled.status !== 'ended') return { record: settled, fence }
    this.#ownership.forget(id)
    throw endedConflict()
  }

  /**
   * Settles a session that failed on this server, under a new lease. Returns undefined if it was deleted, or if another
   * server owns it now.
   */
  async settle(id: string, error: MainstemError): Promise<LeasedSession | undefined> {
    try {
      const fence = await this.#ownership.reacquire(id)
      // A lost lease is no failure of the agent or of storage: the turn is `lost`.
      await this.#settle(await this.#record(id), fence, error.code === 'fenced' ? undefined : error)
      return { record: await this.#record(id), fence }
    } catch (thrown) {
      const { code } = toMainstemError(thrown)
      if (code === 'fenced' || code === 'session_not_found') return undefined
      throw thrown
    }
  }

  /**
   * Reads all records once and settles the sessions that this server may acquire and does not run. Returns their
   * number and the sessions with queued prompts. A damaged session is reported and does not stop the others.
   */
  async recover(
    isRunning: (id: string) => boolean,
    damaged: (id: string, error: MainstemError) => void,
  ): Promise<{ settled: number; waiting: string[] }> {
    const { store, sweep } = this.#deps
    // Once, before anything is started: later it would end the agents of this server.
    this.#swept ??= sweep()
    await this.#swept
    const open: string[] = []
    const waiting: string[] = []
    const halfImported: string[] = []
    for await (const record of allRecords(store, { acquirableBy: this.#ownership.terms.owner })) {
      if (isRunning(record.id)) continue
      if (isImporting(record.principal)) {
        halfImported.push(record.id)
        continue
      }
      if (this.#mayResume(record)) waiting.push(record.id)
      if (needsSettling(record)) open.push(record.id)
    }
    for (const id of halfImported) await this.remove(id)
    const settled = new Set(waiting)
    const ready = new Set(waiting)
    for (const id of open) {
      if (!(await this.#recoverOne(id, damaged))) settled.delete(id)
      else {
        settled.add(id)
        // A lost turn may have been given a continuation.
        if (!ready.has(id) && this.#mayResume(await this.#record(id))) waiting.push(id)
      }
    }
    return { settled: settled.size, waiting }
  }

  /**
   * Settles a session whose owner went away. Returns true if queued prompts can run here; otherwise the session is
   * released, so that another node can acquire it at once.
   */
  async takeOrphan(id: string, damaged: (error: MainstemError) => void): Promise<boolean> {
    const { store } = this.#deps
    const record = await store.record(id)
    if (!record) return false
    if (!needsSettling(record)) return this.#mayResume(record)
    if (!(await this.#recoverOne(id, (_, error) => damaged(error)))) return false
    // A lost turn may have been given a continuation.
    if (this.#mayResume(await this.#record(id))) return true
    await this.release(id)
    return false
  }

  /** Ends the lease of a session, so that another server can acquire it at once. */
  async release(id: string): Promise<void> {
    const { store } = this.#deps
    await this.#ownership.write(id, (fence) => store.append(id, { entries: [], release: true }, fence))
    this.#ownership.forget(id)
  }

  #mayResume(record: SessionRecord): boolean {
    return record.queue.length > 0 && (this.#deps.mayRun?.(record) ?? true)
  }

  /** Deletes a session that this server may acquire. */
  async remove(id: string): Promise<void> {
    const { store } = this.#deps
    try {
      await this.#ownership.write(id, (fence) => store.delete(id, fence))
    } catch (thrown) {
      if (!isDamaged(thrown, id)) throw thrown
      // A damaged session may have no lease that can be read, and deleting it needs none.
      await store.delete(id)
    }
    this.#ownership.forget(id)
  }

  async #recoverOne(id: string, damaged: (id: string, error: MainstemError) => void): Promise<boolean> {
    try {
      await this.#ownership.write(id, async (fence) => this.#settle(await this.#record(id), fence))
      return true
    } catch (thrown) {
      if (isDamaged(thrown, id)) damaged(id, toMainstemError(thrown))
      else if (toMainstemError(thrown).code !== 'fenced') throw thrown
      return false
    }
  }

  async #settle(record: SessionRecord, fence: number, failure?: MainstemError): Promise<void> {
    const { store, clock, committed, node } = this.#deps
    const lostNode = record.node === node ? undefined : record.node
    await settleRecord(store, record, { fence, now: clock.now(), failure, lostNode, committed })
  }

  async #record(id: string): Promise<SessionRecord> {
    const record = await this.#deps.store.record(id)
    if (!record) throw new MainstemError('session_not_found', `there is no session ${id}`)
    return record
  }
}

function needsSettling(record: SessionRecord): boolean {
  return hasOpenWork(record) || isTaskOver(record)
}
