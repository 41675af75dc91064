import type { AuditFact } from '../model/access.ts'
import type { SessionRecord } from '../model/index.ts'
import { isDamaged, type MainstemError } from '../model/index.ts'
import type { HandOverCommand } from '../model/request/command.ts'
import type { NewSession } from '../model/session/new-session.ts'
import { CommitFeed } from '../reading/commit-feed.ts'
import { Latency } from '../reading/latency.ts'
import { recordOf, SessionLogs } from '../reading/session-logs.ts'
import type { Receipt } from '../stores/store.ts'
import { checkReceipt, type IdempotencyKey, receiptsOf } from './claim.ts'
import type { CommandContext } from './command-context.ts'
import { parseHandOver } from './commands.ts'
import type { SessionDeps } from './deps.ts'
import { Receipts } from './receipts.ts'
import { FailedSessions } from './recovery/failed-sessions.ts'
import { LeftQueues } from './recovery/left-queues.ts'
import { leaseLost, localTerms, Ownership } from './recovery/ownership.ts'
import { Releases } from './recovery/releases.ts'
import { Pruner, type Retention } from './recovery/retention.ts'
import { type LeasedSession, Takeover } from './recovery/takeover.ts'
import { draining } from './refusals.ts'
import type { Session } from './session.ts'
import { SessionFactory } from './session-factory.ts'

/** All sessions of this process. */
export class Sessions extends SessionLogs {
  readonly activity = new CommitFeed()
  readonly receipts: Receipts<Session>
  /** From the start of an agent process to its first output, and the end of its handshake if it has one. */
  readonly starts = new Latency()
  /** The leases of this server. */
  readonly ownership: Ownership
  readonly #deps: SessionDeps
  readonly #running = new Map<string, Session>()
  /** Work after its check for `draining`: sessions before they are in `#running`, and evictions. */
  readonly #underway = new Set<Promise<unknown>>()
  /** Sessions that are being restored. */
  readonly #opening = new Map<string, Promise<Session>>()
  readonly #releases = new Releases()
  readonly #factory: SessionFactory
  readonly #takeover: Takeover
  readonly #failedSessions: FailedSessions
  readonly #pruner: Pruner
  readonly #leftQueues: LeftQueues
  #draining = false
  #isDetached = false

  constructor(deps: SessionDeps) {
    const { store, clock, timers, terms = localTerms(store), background = timers } = deps
    super(deps)
    const record = (id: string) => this.record(id)
    this.receipts = new Receipts({ receipt: (scope, key) => store.receipt(scope, key), record })
    this.#deps = {
      ...deps,
      ...{ terms, trail: this.audit },
      committed: (state, batch) => {
        if (batch.receipts) this.receipts.inFlight.committed(batch.receipts)
        this.activity.committed(state, batch, clock.now())
      },
      agentStarted: (ms) => this.starts.observe(ms),
      continueWith: (id, command) => this.continueWith(id, command),
      failed: (id, error, stopped) => {
        this.#running.delete(id)
        this.#failedSessions.add(id, error, stopped)
      },
    }
    this.ownership = new Ownership({ store, clock, background, terms, extended: deps.extended }, (error) => {
      for (const session of [...this.#running.values()]) session.lose(error)
    })
    this.#factory = new SessionFactory(this.#deps, () => this.#draining)
    this.#takeover = new Takeover(this.#deps, this.ownership)
    const resume = (leased: LeasedSession) => this.#resumeRepaired(leased)
    this.#failedSessions = new FailedSessions(timers, this.#takeover, resume, this.reader)
    this.#leftQueues = new LeftQueues({
      timers,
      failed: this.#failedSessions,
      principalOf: async (id) => (await store.record(id))?.principal,
      start: (id) => this.#resume(id),
    })
    this.#pruner = new Pruner(deps, this.ownership, (id) => this.remove(id))
  }

  /** With a prompt, its first turn is in the same commit. */
  async create(request: NewSession, prompt?: string, context?: CommandContext): Promise<Session> {
    const session = await this.#factory.prepare(request)
    const asked = this.ownership.moment
    await this.#start(session, session.open(prompt, undefined, context), asked)
    return session
  }

  /** Creates at most one session per key; `session` is set if this call did. Calls `wanted` only for an unused key. */
  async createOnce(
    once: IdempotencyKey,
    wanted: () => Promise<NewSession>,
    prompt?: string,
    context?: CommandContext,
  ): Promise<{ id: string; session?: Session }> {
    return this.receipts.sessionOf(once, async () => this.#create(once, await wanted(), prompt, context))
  }

  async #create(once: IdempotencyKey, request: NewSession, prompt?: string, context?: CommandContext) {
    const session = await this.#factory.prepare(request)
    const asked = this.ownership.moment
    const opened = session.open(prompt, { ...once, session: session.id }, context)
    const held = await this.#start(session, opened, asked)
    if (!held || held.session === session.id) return { id: session.id, session }
    await checkReceipt(this, held, once)
    return { id: held.session }
  }

  /**
   * Registers a session when `opened` resolves, unless another session has its key. `drain` waits for this. `asked` is a
   * time before the creation of a new session.
   */
  async #start(
    session: Session,
    opened: Promise<Receipt | undefined>,
    asked?: number,
  ): Promise<Receipt | undefined> {
    const started = opened.then((held) => {
      if (held && held.session !== session.id) return held
      this.#running.set(session.id, session)
      if (asked !== undefined && !this.ownership.created(session.id, asked)) session.lose(leaseLost())
      return held
    })
    return this.#finishing(started)
  }

  /** Has `drain` wait for this work. */
  #finishing<T>(work: Promise<T>): Promise<T> {
    this.#underway.add(work)
    return work.finally(() => this.#underway.delete(work))
  }

  /** Stores the idempotency key of a command without effect. */
  async remember(id: string, { claims = [] }: CommandContext): Promise<void> {
    const running = this.#running.get(id)
    if (running) return running.remember({ claims })
    await this.#releases.settled(id)
    const receipts = receiptsOf(claims, await recordOf(this, id))
    await this.ownership.write(id, (fence) => this.#deps.store.append(id, { entries: [], receipts }, fence))
  }

  /** The record as committed: of a session that runs here while its lease is current, otherwise from the store. */
  override async record(id: string): Promise<SessionRecord | undefined> {
    const running = this.ownership.isCurrent ? this.#running.get(id) : undefined
    return running?.record ?? super.record(id)
  }

  /** A session that this process runs. */
  get(id: string): Session | undefined {
    return this.#running.get(id)
  }

  override repair(id: string): Promise<void> {
    return this.#failedSessions.repair(id)
  }

  /** Returns a session for commands; acquires and restores it if it does not run here. */
  async open(id: string): Promise<Session> {
    const running = this.#running.get(id)
    if (running) return running
    const opening = this.#opening.get(id) ?? this.#open(id).finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async #open(id: string): Promise<Session> {
    await this.#releases.settled(id)
    if (this.#draining) throw draining()
    await this.repair(id)
    const restored = this.#running.get(id) ?? (await this.#factory.restore(await this.#takeover.take(id)))
    if (!this.ownership.holds(id)) throw leaseLost()
    this.#running.set(id, restored)
    restored.continueLater()
    return restored
  }

  /** Continues or closes what expired owners, and earlier processes of this server, left open. Repeatable. */
  async recover(): Promise<number> {
    const { settled, waiting } = await this.#takeover.recover(
      (id) => this.#running.has(id) || this.#opening.has(id),
      (id, error) => this.#failedSessions.add(id, error, Promise.resolve()),
      async (left) => this.#continue(await this.#factory.reattach(left)),
    )
    this.#leftQueues.add(...waiting)
    return settled
  }

  /** Registers a session that this server continues. A single task ends with its turn, or by its next owner. */
  #continue(session: Session): void {
    this.#running.set(session.id, session)
    const finished = session.endsWithTurn && session.ended(1).then(() => this.finish(session.id))
    if (finished) finished.catch(() => undefined)
  }

  /** Settles a session that another node left, and marks its queue for `resumeQueues` if it can run here. */
  async takeOver(id: string): Promise<void> {
    if (this.#running.has(id) || this.#opening.has(id) || this.#draining) return
    const damaged = (error: MainstemError) => this.#failedSessions.add(id, error, Promise.resolve())
    await this.#releases.run(id, async () => {
      if (await this.#takeover.takeOrphan(id, damaged)) this.#leftQueues.add(id)
    })
  }

  /** Has another agent continue a session, in a new conversation that begins with a recap of the log. */
  async continueWith(id: string, command: HandOverCommand, context?: CommandContext): Promise<void> {
    const parsed = parseHandOver(command)
    const session = await this.open(id)
    const handedOver = await this.#factory.successor(await recordOf(this, id), parsed)
    await session.handOver(async () => handedOver(await recordOf(this, id)), context)
    // Until the session is restored, callers wait for it in `open`.
    const opening = session.suspend().then(() => this.#open(id))
    this.#running.delete(id)
    this.#opening.set(
      id,
      opening.finally(() => this.#opening.delete(id)),
    )
    await (await opening).resume()
  }

  /** Lowers a request that was made elsewhere or earlier to what this server allows. */
  limited(request: NewSession): NewSession {
    return this.#factory.limited(request)
  }

  /** Starts the queues of the sessions that `recover` found. */
  resumeQueues(): Promise<void> {
    return this.#leftQueues.start()
  }

  async #resume(id: string): Promise<void> {
    const session = await this.open(id)
    await session.resume()
    this.#continue(session)
  }

  /** Starts the queue of a repaired session. */
  async #resumeRepaired(leased: LeasedSession): Promise<void> {
    if (leased.record.queue.length === 0) return
    const session = await this.#factory.restore(leased)
    const resumed = session.resume().then(() => undefined)
    await this.#start(session, resumed)
  }

  /** Ends a session, also one that does not run here. Its log stays. */
  async end(id: string, context?: CommandContext): Promise<void> {
    const isOurs = this.#running.has(id) || this.#draining
    if (!isOurs && ((await this.record(id))?.status ?? 'ended') !== 'ended') await this.open(id)
    if (await this.#end(id, context)) this.ownership.forget(id)
  }

  async #end(id: string, context?: CommandContext): Promise<boolean> {
    await this.#running.get(id)?.end(context)
    return this.#running.delete(id)
  }

  /** Ends a session whose single task is done. Waits if its log cannot be written. */
  async finish(id: string): Promise<void> {
    await this.#failedSessions.repaired(id)
    await (this.#running.has(id) ? this.end(id) : this.takeOver(id))
  }

  /** Ends a session and removes all of its data. Its readers are disconnected. */
  async delete(id: string, { actor }: CommandContext = {}): Promise<void> {
    try {
      // Ended first, so that it cannot be opened during the deletion.
      if ((await recordOf(this, id)).status !== 'ended') await this.open(id)
      await this.#end(id)
    } catch (thrown) {
      // A damaged session cannot be opened or ended, only deleted.
      if (!isDamaged(thrown, id)) throw thrown
    }
    await this.remove(id, this.audit.factOf('session.deleted', actor, { session: id }))
  }

  /** Evicts entries up to and including this one, except the last of the log. Later reads of them are refused. */
  async trim(id: string, seq: number): Promise<void> {
    // The store is about to close.
    if (this.#draining) return
    const { store } = this.#deps
    this.#running.get(id)?.trimmed()
    await this.#finishing(this.ownership.write(id, (fence) => store.trim(id, { seq: seq + 1 }, fence)))
  }

  /** Deletes data beyond the retention limits. */
  async prune(retention: Retention): Promise<void> {
    await this.#pruner.prune(retention)
  }

  /** Removes the data of a session that does not run. Its readers are disconnected. */
  async remove(id: string, fact?: AuditFact): Promise<void> {
    await this.#takeover.remove(id, fact)
    this.reader.deleted(id)
  }

  /** Hands all sessions to other servers: idle ones at once, the others when their open turn has ended. */
  async handOver(): Promise<void> {
    await this.#eachRunning((session) => this.#handOver(session))
  }

  async #handOver(session: Session): Promise<void> {
    await session.leave()
    const { id } = session
    // It may have ended or failed meanwhile.
    if (this.#running.get(id) !== session) return
    if (session.endsWithTurn) return this.end(id)
    await this.#releases.run(id, async () => {
      this.#running.delete(id)
      await session.suspend()
      await this.#takeover.release(id)
    })
  }

  /** Refuses new work and stops every agent. Every open turn gets its terminal event. */
  async drain(): Promise<void> {
    if (this.#isDetached) return
    await this.#stop((session) => session.suspend())
    // If this fails, the leases expire.
    await this.ownership.stop().catch(() => undefined)
  }

  /** Like `drain`, but leaves the agents that outlive this process, and the leases, to its next process. */
  async detach(): Promise<void> {
    this.#isDetached = true
    await this.#stop((session) => session.detach())
    this.ownership.pause()
  }

  async #stop(stop: (session: Session) => Promise<void>): Promise<void> {
    await this.#eachRunning(stop)
    await this.#releases.all()
    await this.#failedSessions.stop()
    this.#running.clear()
  }

  async #eachRunning(leave: (session: Session) => Promise<void>): Promise<void> {
    this.#draining = true
    this.#leftQueues.stop()
    await Promise.allSettled(this.#underway)
    await Promise.allSettled([...this.#running.values()].map(leave))
  }
}
