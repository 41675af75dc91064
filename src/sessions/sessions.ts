import {
  type BlobRef,
  type Entry,
  type ErrorCode,
  isDamaged,
  MainstemError,
  type SessionRecord,
  toMainstemError,
} from '../model/index.ts'
import type { DailyUsage, JournalFrame, Receipt, SessionQuery, TextQuery } from '../stores/store.ts'
import { type Claim, checkReceipt, type IdempotencyKey } from './claim.ts'
import { CommitFeed } from './commit-feed.ts'
import type { NewSession, SessionDeps } from './deps.ts'
import { FailedSessions } from './failed-sessions.ts'
import { LogReader, type ReplayOptions } from './log-reader.ts'
import { LOCAL_TERMS, leaseLost, Ownership } from './ownership.ts'
import { Pruner, type Retention } from './retention.ts'
import type { Session } from './session.ts'
import { SessionFactory } from './session-factory.ts'
import { type Taken, Takeover } from './takeover.ts'

/** Until a queue that no process was free for is looked at again. */
const NO_ROOM_MS = 1_000

/** Why a queue is not this server's to begin: the session has ended, was removed, or has another owner. */
const ELSEWHERE: ReadonlySet<ErrorCode> = new Set(['conflict', 'draining', 'fenced', 'session_not_found'])

/** All sessions of this process. */
export class Sessions {
  readonly activity = new CommitFeed()
  readonly #deps: SessionDeps
  readonly #running = new Map<string, Session>()
  readonly #creating = new Map<string, Promise<unknown>>()
  /** Sessions that are past the last check for `draining` and not in `#running` yet. */
  readonly #starting = new Set<Promise<unknown>>()
  /** Sessions that are being restored. */
  readonly #opening = new Map<string, Promise<Session>>()
  readonly #reader: LogReader
  readonly #ownership: Ownership
  readonly #factory: SessionFactory
  readonly #takeover: Takeover
  readonly #failedSessions: FailedSessions
  readonly #pruner: Pruner
  /** Recovered sessions with prompts that wait for `resumeQueues`. */
  #waiting: string[] = []
  #draining = false

  constructor(deps: SessionDeps) {
    const { store, clock, timers, terms = LOCAL_TERMS, background = timers } = deps
    this.#deps = {
      ...deps,
      terms,
      committed: (state, batch) => this.activity.committed(state, batch),
      failed: (id, error, stopped) => {
        this.#running.delete(id)
        this.#failedSessions.add(id, error, stopped)
      },
    }
    this.#reader = new LogReader(store, timers, deps.readBytes)
    this.#ownership = new Ownership({ store, clock, background, terms }, (error) => {
      for (const session of [...this.#running.values()]) session.lose(error)
    })
    this.#factory = new SessionFactory(this.#deps, () => this.#draining)
    this.#takeover = new Takeover(this.#deps, this.#ownership)
    this.#failedSessions = new FailedSessions(timers, this.#takeover, (taken) => this.#goOn(taken))
    this.#pruner = new Pruner(deps, this.#ownership, (id) => this.#remove(id))
  }

  /** With a prompt, its first turn is in the same commit. */
  async create(request: NewSession, prompt?: string): Promise<Session> {
    const session = await this.#factory.prepare(request)
    const asked = this.#ownership.moment
    await this.#start(session, session.open(prompt), asked)
    return session
  }

  /**
   * Begins a session, with a prompt if there is one. The same key and fingerprint give the same session, however
   * often it is asked for; `session` is there for the first of them only.
   */
  async createOnce(
    once: IdempotencyKey,
    request: NewSession,
    prompt?: string,
  ): Promise<{ id: string; session?: Session }> {
    const key = JSON.stringify([once.scope, once.key])
    // Whoever asks at the same time waits, so that only one of them needs room for a process.
    const first = this.#creating.get(key)
    if (first) await first.catch(() => undefined)
    const before = await this.find(once)
    if (before !== undefined) return { id: before }
    if (this.#creating.has(key)) return this.createOnce(once, request, prompt)
    const creating = this.#create(once, request, prompt).finally(() => this.#creating.delete(key))
    this.#creating.set(key, creating)
    return creating
  }

  async #create(once: IdempotencyKey, request: NewSession, prompt?: string) {
    const session = await this.#factory.prepare(request)
    const asked = this.#ownership.moment
    const held = await this.#start(session, session.open(prompt, { ...once, session: session.id }), asked)
    if (!held || held.session === session.id) return { id: session.id, session }
    await checkReceipt(this.#deps.store, held, once)
    return { id: held.session }
  }

  /**
   * Registers a session that `opened` begins, unless another session holds its key. `drain` waits for this. `asked` is
   * a moment before the session was created, where it is new.
   */
  async #start(
    session: Session,
    opened: Promise<Receipt | undefined>,
    asked?: number,
  ): Promise<Receipt | undefined> {
    const started = opened.then((held) => {
      if (held && held.session !== session.id) return held
      if (asked !== undefined) this.#ownership.created(session.id, asked)
      this.#running.set(session.id, session)
      return held
    })
    this.#starting.add(started)
    return started.finally(() => this.#starting.delete(started))
  }

  /** The session that a key stands for, if it was used; nothing is started. */
  async find(once: IdempotencyKey): Promise<string | undefined> {
    return (await this.receipt(once))?.session
  }

  /** What a key was answered with, if it was used. Refused where its session was removed since. */
  async receipt(once: IdempotencyKey): Promise<Receipt | undefined> {
    const receipt = await this.#deps.store.receipt(once.scope, once.key)
    if (receipt) await checkReceipt(this.#deps.store, receipt, once)
    return receipt
  }

  /** Uses up a key for a command that found nothing to do. */
  async remember(id: string, { answer, ...once }: Claim): Promise<void> {
    const running = this.#running.get(id)
    if (running) return running.remember({ ...once, answer })
    const record = await this.record(id)
    if (!record) throw new MainstemError('session_not_found', `there is no session ${id}`)
    const receipts = [{ ...once, session: id, answer: answer(record) }]
    await this.#ownership.write(id, (fence) => this.#deps.store.append(id, { entries: [], receipts }, fence))
  }

  /** A session that this process runs. */
  get(id: string): Session | undefined {
    return this.#running.get(id)
  }

  head(id: string): Promise<number> {
    return this.#deps.store.head(id)
  }

  /** Some entries after a cursor; none only at the head. */
  read(id: string, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#deps.store.read(id, after, limit)
  }

  /** Entries after a cursor up to another, piece by piece. */
  replay(id: string, after: number, last: number, options?: ReplayOptions): AsyncGenerator<readonly Entry[]> {
    return this.#reader.replay(id, after, last, options)
  }

  /** Raw frames after the one with this number. */
  journal(id: string, after: number, limit: number): Promise<readonly JournalFrame[]> {
    return this.#deps.store.readJournal(id, after, limit)
  }

  blob(ref: BlobRef): Promise<Uint8Array> {
    return this.#deps.store.readBlob(ref)
  }

  /** Raw frames after the one with this number up to another, piece by piece. */
  replayJournal(
    id: string,
    after: number,
    last: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly JournalFrame[]> {
    return this.#reader.replayJournal(id, after, last, signal)
  }

  /** Replay, then live. It stops short when the session is deleted. */
  follow(id: string, after: number, signal: AbortSignal): AsyncGenerator<readonly Entry[]> {
    return this.#reader.follow(id, after, signal)
  }

  /** The same, each entry as the JSON that is kept of it. Readers at the same place get the same lists. */
  followTexts(id: string, after: number, signal: AbortSignal): AsyncGenerator<readonly string[]> {
    return this.#reader.followTexts(id, after, signal)
  }

  /** A session that may have been made by an owner before us, ready to go on. */
  async open(id: string): Promise<Session> {
    const running = this.#running.get(id)
    if (running) return running
    const opening = this.#opening.get(id) ?? this.#open(id).finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async #open(id: string): Promise<Session> {
    await this.#failedSessions.whole(id)
    const restored = this.#running.get(id) ?? (await this.#factory.restore(await this.#takeover.take(id)))
    if (!this.#ownership.holds(id)) throw leaseLost()
    this.#running.set(id, restored)
    return restored
  }

  record(id: string): Promise<SessionRecord | undefined> {
    return this.#deps.store.record(id)
  }

  /** How many sessions there are of each status. */
  counts(): Promise<ReadonlyMap<SessionRecord['status'], number>> {
    return this.#deps.store.counts()
  }

  /** The principals that a native conversation belongs or belonged to. */
  nativeOwners(native: string): Promise<readonly string[]> {
    return this.#deps.store.nativeOwners(native)
  }

  /** What a principal has used, by agent and day; also what was removed since. */
  dailyUsage(principal: string): Promise<readonly DailyUsage[]> {
    return this.#deps.store.dailyUsage(principal)
  }

  /** Entries of a principal that contain every word, the newest first. */
  search(query: TextQuery): Promise<readonly Entry[]> {
    return this.#deps.store.search(query)
  }

  records(query: SessionQuery): Promise<readonly SessionRecord[]> {
    return this.#deps.store.records(query)
  }

  /**
   * Closes what an owner that went away left open: in sessions whose lease has expired, and in those that an earlier
   * process of this server had. Doing it again changes nothing.
   */
  async recover(): Promise<number> {
    const { settled, waiting } = await this.#takeover.recover(
      (id) => this.#running.has(id) || this.#opening.has(id),
      (id, error) => this.#failedSessions.add(id, error, Promise.resolve()),
    )
    this.#waiting = waiting
    return settled
  }

  /** Begins what was accepted and never ran, in the sessions that `recover` found. */
  async resumeQueues(): Promise<void> {
    for (const id of this.#waiting.splice(0)) {
      while (!(await this.#resume(id))) {
        await this.#deps.timers.sleep(NO_ROOM_MS, new AbortController().signal)
      }
    }
  }

  /** False when there is no room for it yet. It may be gone, or at work already: somebody may have been faster. */
  async #resume(id: string): Promise<boolean> {
    try {
      await (await this.open(id)).resume()
      return true
    } catch (thrown) {
      const { code } = toMainstemError(thrown)
      if (code === 'overloaded') return this.#draining
      if (isDamaged(thrown, id)) return true
      if (ELSEWHERE.has(code)) return true
      throw thrown
    }
  }

  /** Begins what still waits in a session that failed and is whole again. */
  async #goOn(taken: Taken): Promise<void> {
    if (taken.record.queue.length === 0) return
    const session = await this.#factory.restore(taken)
    await this.#start(
      session,
      session.resume().then(() => undefined),
    )
  }

  /** Ends a session and forgets the running part of it; its log stays. */
  async end(id: string, claim?: Claim): Promise<void> {
    if (await this.#end(id, claim)) this.#ownership.forget(id)
  }

  /** False where the session does not run here. */
  async #end(id: string, claim?: Claim): Promise<boolean> {
    await this.#running.get(id)?.end(claim)
    return this.#running.delete(id)
  }

  /** Ends a session whose one task is over, also when its log could not be written for a while. */
  async finish(id: string): Promise<void> {
    await this.#failedSessions.later(id)
    const record = await this.record(id)
    if (record && record.status !== 'ended' && !this.#draining) await this.open(id)
    await this.end(id)
  }

  /** Ends a session and removes all of its data. Its readers are disconnected. */
  async delete(id: string): Promise<void> {
    try {
      const record = await this.record(id)
      if (!record) throw new MainstemError('session_not_found', `there is no session ${id}`)
      // Ended first, so that nobody can open it while it is removed.
      if (record.status !== 'ended') await this.open(id)
      await this.#end(id)
    } catch (thrown) {
      // A damaged session cannot be opened, so it cannot be ended either.
      if (!isDamaged(thrown, id)) throw thrown
    }
    await this.#remove(id)
  }

  /** Lets go of all up to this entry, but for the last one of the log. Whoever asks for it later is refused. */
  async letGo(id: string, seq: number): Promise<void> {
    await this.#ownership.write(id, (fence) => this.#deps.store.trim(id, { seq: seq + 1 }, fence))
  }

  /** Removes what is kept longer than it has to be. */
  async prune(retention: Retention): Promise<void> {
    await this.#pruner.prune(retention)
  }

  async #remove(id: string): Promise<void> {
    await this.#takeover.remove(id)
    this.#reader.deleted(id)
  }

  /** Takes no more work and stops what runs; every open turn gets its terminal event. */
  async drain(): Promise<void> {
    this.#draining = true
    await Promise.allSettled(this.#starting)
    await Promise.allSettled([...this.#running.values()].map((session) => session.suspend()))
    await this.#failedSessions.stop()
    this.#running.clear()
    // The leases end by themselves where this fails.
    await this.#ownership.stop().catch(() => undefined)
  }
}
