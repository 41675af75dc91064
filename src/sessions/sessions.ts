import {
  type BlobRef,
  DEFAULT_POLICY,
  type Entry,
  isDamaged,
  MainstemError,
  NativeSessionId,
  Policy,
  SessionOptions,
  type SessionRecord,
  toMainstemError,
} from '../model/index.ts'
import type { JournalFrame, Receipt, SessionQuery, Spent, TextQuery } from '../stores/store.ts'
import { type Claim, checkReceipt, type IdempotencyKey } from './claim.ts'
import { CommitFeed } from './commit-feed.ts'
import type { NewSession, SessionDeps } from './deps.ts'
import { endedConflict } from './ended-conflict.ts'
import { FailedSessions } from './failed-sessions.ts'
import { LogReader, type ReplayOptions } from './log-reader.ts'
import { parse } from './parse.ts'
import { agentOf, chooseRecipe, restoreRecipe } from './recipes.ts'
import { newRecord } from './record.ts'
import { settleAll, unfinished } from './recovery.ts'
import { Pruner, type Retention } from './retention.ts'
import { OWNER } from './secrets.ts'
import { Session } from './session.ts'
import { checkHook, keptMode, startOf } from './setup.ts'

/** Until a queue that no process was free for is looked at again. */
const NO_ROOM_MS = 1_000

/** All sessions of this process. */
export class Sessions {
  readonly activity = new CommitFeed()
  readonly #deps: SessionDeps
  readonly #running = new Map<string, Session>()
  readonly #creating = new Map<string, Promise<unknown>>()
  /** Sessions that are past the last check for `draining` and not in `#running` yet. */
  readonly #starting = new Set<Promise<unknown>>()
  readonly #reader: LogReader
  readonly #failedSessions: FailedSessions
  readonly #pruner: Pruner
  #draining = false

  constructor(deps: SessionDeps) {
    this.#deps = {
      ...deps,
      committed: (state, batch) => this.activity.committed(state, batch),
      failed: (id, error, stopped) => {
        this.#running.delete(id)
        this.#failedSessions.add(id, error, stopped)
      },
    }
    this.#pruner = new Pruner(deps, (id) => this.#remove(id))
    this.#reader = new LogReader(deps.store, deps.timers, deps.readBytes)
    this.#failedSessions = new FailedSessions(this.#deps, (id) => this.#goOn(id))
  }

  /** With a prompt, its first turn is in the same commit. */
  async create(request: NewSession, prompt?: string): Promise<Session> {
    const session = this.#prepare(request, await this.#versionOf(request.agent))
    await this.#start(session, session.open(prompt))
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
    const session = this.#prepare(request, await this.#versionOf(request.agent))
    const opened = session.open(prompt, { ...once, session: session.id })
    const held = await this.#start(session, opened)
    if (!held || held.session === session.id) return { id: session.id, session }
    await checkReceipt(this.#deps.store, held, once)
    return { id: held.session }
  }

  /** Registers a session that `opened` begins, unless another session holds its key. `drain` waits for this. */
  async #start(session: Session, opened: Promise<Receipt | undefined>): Promise<Receipt | undefined> {
    const started = opened.then((held) => {
      if (!held || held.session === session.id) this.#running.set(session.id, session)
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
    const record = await this.record(id)
    if (!record) throw new MainstemError('session_not_found', `there is no session ${id}`)
    const receipt = { ...once, session: id, answer: answer(record) }
    await this.#deps.store.append(id, { entries: [], receipts: [receipt] })
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
    await this.#failedSessions.whole(id)
    const record = await this.#deps.store.record(id)
    if (!record) throw new MainstemError('session_not_found', `there is no session ${id}`)
    if (record.status === 'ended') throw endedConflict()
    const version = await this.#versionOf(record.agent)
    // Somebody else may have opened it while we looked.
    const opened = this.#running.get(id) ?? this.#restore(record, version)
    this.#running.set(id, opened)
    return opened
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
  spent(principal: string): Promise<readonly Spent[]> {
    return this.#deps.store.spent(principal)
  }

  /** Entries of a principal that contain every word, the newest first. */
  search(query: TextQuery): Promise<readonly Entry[]> {
    return this.#deps.store.search(query)
  }

  records(query: SessionQuery): Promise<readonly SessionRecord[]> {
    return this.#deps.store.records(query)
  }

  /**
   * Closes what an owner that went away left open, before anybody is served; what waited in its queues goes on.
   * Doing it again changes nothing.
   */
  async recover(): Promise<number> {
    const { store, clock, sweep } = this.#deps
    await sweep()
    return settleAll(store, clock.now(), (id, error) =>
      this.#failedSessions.add(id, error, Promise.resolve()),
    )
  }

  /** Begins what was accepted and never ran. */
  async resumeQueues(): Promise<void> {
    for await (const { id, queue } of unfinished(this.#deps.store)) {
      while (queue.length > 0 && !(await this.#resume(id))) {
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
      if (code === 'conflict' || code === 'draining' || code === 'session_not_found') return true
      throw thrown
    }
  }

  /** Refuses what cannot be done before anything has started. */
  #prepare(request: NewSession, version: string | undefined): Session {
    if (this.#draining) throw new MainstemError('draining', 'the server is stopping')
    const { cwd, project, name, attended = true, principal = OWNER } = request
    const chosen = chooseRecipe(agentOf(this.#deps.agents, request.agent), request, version)
    const policy = parse(Policy, request.policy ?? DEFAULT_POLICY, 'policy')
    const options = parse(SessionOptions, request.options ?? {}, 'options')
    const resume = request.resume === undefined ? undefined : parse(NativeSessionId, request.resume, 'resume')
    checkHook({ ...chosen, policy, options })
    // Made once for its refusals: an option that cannot be enforced is told now, not in the middle of a turn.
    const prompt = { text: '', images: options.images ?? [] }
    const id = this.#deps.newId()
    const setup = { id, ...chosen, cwd, project, name, policy, mode: undefined, options, resume, attended }
    setup.recipe.launch({ ...startOf(setup), epoch: 1, prompt })
    const record = newRecord(setup, principal, this.#deps.clock.now())
    return new Session(setup, this.#deps, record, { head: 0, updatedAt: 0 })
  }

  async #versionOf(id: string): Promise<string | undefined> {
    return this.#deps.versionOf?.(agentOf(this.#deps.agents, id))
  }

  #restore(record: SessionRecord, version: string | undefined): Session {
    const { head, updatedAt, earliest: _, earliestFrame: __, ...state } = record
    if (this.#draining) throw new MainstemError('draining', 'the server is stopping')
    // The configuration may allow less than it did when the session began.
    state.policy = this.#deps.limit?.(state.policy) ?? state.policy
    state.options = this.#deps.limitOptions?.(state.options) ?? state.options
    const { id, cwd, project, name, policy, options, attended } = state
    const mode = keptMode(state, this.#deps.limit)
    const resume = state.nativeSessionId ?? state.resumedFrom
    const chosen = restoreRecipe(agentOf(this.#deps.agents, state.agent), state.launch, version)
    const setup = { id, ...chosen, cwd, project, name, policy, mode, options, resume, attended }
    return new Session(setup, this.#deps, state, { head, updatedAt })
  }

  /** Begins what still waits in a session that failed and is whole again. */
  async #goOn(id: string): Promise<void> {
    const record = await this.record(id)
    if (!record || record.queue.length === 0) return
    const session = this.#restore(record, await this.#versionOf(record.agent))
    const resumed = session.resume().then(() => undefined)
    await this.#start(session, resumed)
  }

  /** Ends a session and forgets the running part of it; its log stays. */
  async end(id: string, claim?: Claim): Promise<void> {
    await this.#running.get(id)?.end(claim)
    this.#running.delete(id)
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
      await this.end(id)
    } catch (thrown) {
      // A damaged session cannot be opened, so it cannot be ended either.
      if (!isDamaged(thrown, id)) throw thrown
    }
    await this.#remove(id)
  }

  /** Lets go of all up to this entry, but for the last one of the log. Whoever asks for it later is refused. */
  async letGo(id: string, seq: number): Promise<void> {
    await this.#deps.store.trim(id, { seq: seq + 1 })
  }

  /** Removes what is kept longer than it has to be. */
  async prune(retention: Retention): Promise<void> {
    await this.#pruner.prune(retention)
  }

  async #remove(id: string): Promise<void> {
    await this.#deps.store.delete(id)
    this.#reader.deleted(id)
  }

  /** Takes no more work and stops what runs; every open turn gets its terminal event. */
  async drain(): Promise<void> {
    this.#draining = true
    await Promise.allSettled(this.#starting)
    await Promise.allSettled([...this.#running.values()].map((session) => session.suspend()))
    await this.#failedSessions.stop()
    this.#running.clear()
  }
}
