import type { LeftRun } from '../../drivers/driver.ts'
import type { AuditFact } from '../../model/access.ts'
import { isDamaged, type MainstemError, type SessionRecord, toMainstemError } from '../../model/index.ts'
import { isImporting } from '../../model/owner.ts'
import { allRecords, recordOf } from '../../reading/session-logs.ts'
import type { SessionDeps } from '../deps.ts'
import { endedConflict } from '../refusals.ts'
import type { Ownership } from './ownership.ts'
import { hasExited } from './reattach.ts'
import { hasOpenWork, isTaskOver, settleRecord } from './recovery.ts'

/** A session that this server has leased. */
export interface LeasedSession {
  record: SessionRecord
  fence: number
}

type TakeoverDeps = Pick<
  SessionDeps,
  'store' | 'clock' | 'driver' | 'sweep' | 'committed' | 'mayRun' | 'node'
>

/** A session whose process an earlier owner left. */
export interface LeftSession extends LeasedSession {
  left: LeftRun
}

/** Takes sessions over from another owner, and closes what that owner left open. */
export class Takeover {
  readonly #deps: TakeoverDeps
  readonly #ownership: Ownership
  #swept: Promise<ReadonlyMap<string, LeftRun>> | undefined

  constructor(deps: TakeoverDeps, ownership: Ownership) {
    this.#deps = deps
    this.#ownership = ownership
  }

  /** Leases a session, and closes turns and requests that its last owner left open. */
  async take(id: string): Promise<LeasedSession> {
    const before = await recordOf(this.#deps.store, id)
    if (before.status === 'ended') throw endedConflict()
    const fence = await this.#ownership.acquire(id)
    // Read again: the last owner may have written until the lease.
    const record = await recordOf(this.#deps.store, id)
    if (!needsSettling(record)) return { record, fence }
    await this.#settle(record, fence)
    const settled = await recordOf(this.#deps.store, id)
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
      await this.#settle(
        await recordOf(this.#deps.store, id),
        fence,
        error.code === 'fenced' ? undefined : error,
      )
      return { record: await recordOf(this.#deps.store, id), fence }
    } catch (thrown) {
      const { code } = toMainstemError(thrown)
      if (code === 'fenced' || code === 'session_not_found') return undefined
      throw thrown
    }
  }

  /**
   * Reads all records once and settles the sessions that this server may acquire and does not run. Returns their
   * number and the sessions with queued prompts. A damaged session is reported and does not stop the others. Sessions
   * whose process an earlier owner left are given to `resume`, and settled only if it throws.
   */
  async recover(
    isRunning: (id: string) => boolean,
    damaged: (id: string, error: MainstemError) => void,
    resume: (session: LeftSession) => Promise<void>,
  ): Promise<{ settled: number; waiting: string[] }> {
    const { store } = this.#deps
    // Once, before anything is started: later it would end the agents of this server.
    const isFirst = this.#swept === undefined
    this.#swept ??= this.#sweep()
    const left = new Map(isFirst ? await this.#swept : [])
    await this.#swept
    const resumable: [string, LeftRun][] = []
    const open: string[] = []
    const waiting: string[] = []
    const halfImported: string[] = []
    for await (const record of allRecords(store, { acquirableBy: this.#ownership.terms.owner })) {
      if (isRunning(record.id)) continue
      if (isImporting(record.principal)) {
        halfImported.push(record.id)
        continue
      }
      const run = left.get(`${record.id}.${record.epoch}`)
      if (run && this.#mayContinue(record) && !(await hasExited(store, record))) {
        left.delete(run.runId)
        resumable.push([record.id, run])
        continue
      }
      if (this.#mayResume(record)) waiting.push(record.id)
      if (needsSettling(record)) open.push(record.id)
    }
    for (const id of halfImported) await this.remove(id)
    for (const runId of left.keys()) {
      await this.#deps.driver.lasting?.terminate(runId)
      await this.#deps.driver.lasting?.remove(runId)
    }
    for (const [id, run] of resumable) await this.#continue(id, run, damaged, resume)
    const settled = new Set(waiting)
    const ready = new Set(waiting)
    for (const id of open) {
      if (!(await this.#recoverOne(id, damaged))) settled.delete(id)
      else {
        settled.add(id)
        // A lost turn may have been given a continuation.
        if (!ready.has(id) && this.#mayResume(await recordOf(this.#deps.store, id))) waiting.push(id)
      }
    }
    return { settled: settled.size, waiting }
  }

  /** Ends what is left of earlier processes, except runs that can be continued. Returns those. */
  async #sweep(): Promise<ReadonlyMap<string, LeftRun>> {
    const { driver, sweep } = this.#deps
    const left = (await driver.lasting?.left()) ?? new Map<string, LeftRun>()
    await sweep([...left.keys()])
    return left
  }

  /** Another node may have run the session meanwhile. A task that is over needs no process. */
  #mayContinue(record: SessionRecord): boolean {
    return (
      record.status !== 'ended' &&
      record.node === this.#deps.node &&
      (hasOpenWork(record) || !isTaskOver(record))
    )
  }

  async #continue(
    id: string,
    left: LeftRun,
    damaged: (id: string, error: MainstemError) => void,
    resume: (session: LeftSession) => Promise<void>,
  ): Promise<void> {
    try {
      const fence = await this.#ownership.acquire(id)
      await resume({ record: await recordOf(this.#deps.store, id), fence, left })
    } catch (thrown) {
      await this.#deps.driver.lasting?.terminate(left.runId)
      const { code, message } = toMainstemError(thrown)
      if (isDamaged(thrown, id)) damaged(id, toMainstemError(thrown))
      else if (code !== 'fenced')
        await this.#recoverOne(id, damaged, `the agent could not be continued: ${message}`)
      // Last: if this server dies before it has logged the reason, the next one finds it again.
      await this.#deps.driver.lasting?.remove(left.runId)
    }
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
    if (this.#mayResume(await recordOf(this.#deps.store, id))) return true
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
  async remove(id: string, fact?: AuditFact): Promise<void> {
    const { store } = this.#deps
    try {
      await this.#ownership.write(id, (fence) => store.delete(id, fence, fact))
    } catch (thrown) {
      if (!isDamaged(thrown, id)) throw thrown
      // A damaged session may have no lease that can be read, and deleting it needs none.
      await store.delete(id, undefined, fact)
    }
    this.#ownership.forget(id)
  }

  async #recoverOne(
    id: string,
    damaged: (id: string, error: MainstemError) => void,
    why?: string,
  ): Promise<boolean> {
    try {
      await this.#ownership.write(id, async (fence) =>
        this.#settle(await recordOf(this.#deps.store, id), fence, undefined, why),
      )
      return true
    } catch (thrown) {
      if (isDamaged(thrown, id)) damaged(id, toMainstemError(thrown))
      else if (toMainstemError(thrown).code !== 'fenced') throw thrown
      return false
    }
  }

  async #settle(record: SessionRecord, fence: number, failure?: MainstemError, why?: string): Promise<void> {
    const { store, clock, committed, node } = this.#deps
    const lostNode = record.node === node ? undefined : record.node
    await settleRecord(store, record, { fence, now: clock.now(), failure, lostNode, why, committed })
  }
}

function needsSettling(record: SessionRecord): boolean {
  return hasOpenWork(record) || isTaskOver(record)
}
