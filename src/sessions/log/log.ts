import type { OutputPosition } from '../../drivers/driver.ts'
import { Mask } from '../../mask/mask.ts'
import type { AuditFact } from '../../model/access.ts'
import type {
  BlobRef,
  Coverage,
  Entry,
  Event,
  Image,
  MainstemError,
  SessionOptions,
  SessionRecord,
} from '../../model/index.ts'
import { type AcceptedPrompt, queuePreview } from '../../model/session/queue-preview.ts'
import { isCalledFor } from '../../model/webhook.ts'
import type { WebhookCall } from '../../stores/calls.ts'
import type {
  Batch,
  Charge,
  JournalFrame,
  LeaseTerms,
  Receipt,
  SessionState,
  Store,
} from '../../stores/store.ts'
import { answerOf, type Claim } from '../claim.ts'
import type { Clock } from '../deps.ts'
import type { NativeIds } from '../machine/native-id.ts'
import { chargeOf, recordEvent } from '../machine/record.ts'
import { READ, SENT } from '../machine/sent.ts'
import { type TurnRead, withDelivered } from '../turns/delivery.ts'
import { stamp } from './stamp.ts'

export interface LogDeps {
  store: Store
  clock: Pick<Clock, 'now'>
  /** Called after each commit. */
  committed?: ((state: SessionState, batch: Batch) => void) | undefined
  /** Called if a commit fails, before `commit` rejects. */
  failed?: ((thrown: unknown) => void) | undefined
  /** Without one, nothing is masked. */
  mask?: Mask
  /** The lease that a new session begins with. */
  terms?: LeaseTerms | undefined
}

/** Where a stored log begins, if it was trimmed. */
type LogStart = Pick<SessionRecord, 'earliest' | 'earliestFrame'>

/** The start and the end of a stored log, and the fence of its lease. */
export interface LogPosition extends LogStart, Pick<SessionRecord, 'head' | 'updatedAt'> {
  fence: number
}

/**
 * Owns the log and the record of one session. Stamps entries and commits them, and runs side effects (a spawn, a write
 * to the agent, a resolved promise) only after their entries are committed. Nothing else assigns `seq`.
 */
export class Log {
  readonly #store: Store
  readonly #clock: Pick<Clock, 'now'>
  readonly #committed: LogDeps['committed']
  readonly #failed: LogDeps['failed']
  readonly #mask: Mask
  readonly #terms: LeaseTerms | undefined
  readonly #start: LogStart
  /** The log was trimmed since, and only the store knows where it begins now. */
  #isTrimmed = false
  readonly #fence: number
  /** The state after all added events. */
  readonly #state: SessionState
  #changed = true
  /** The frame counts have changed since the last commit. */
  #hasFrames = false
  /** The journal has frames of the agent since the last commit. */
  #hasOutput = false
  /** The record must be committed even without entries. */
  #recordDue = false
  #seq: number
  /** When the last entry was stamped. */
  #at: number
  #entries: Entry[] = []
  #journal: JournalFrame[] = []
  #receipts: Receipt[] = []
  /** The queue after the last batch. */
  #storedQueue: SessionRecord['queue']
  /** Prompts that were queued since the last commit. */
  #accepted = new Map<number, AcceptedPrompt>()
  #charges: Charge[] = []
  #facts: AuditFact[] = []
  #calls: WebhookCall[] = []
  /** Side effects of the entries since the last commit. */
  readonly #effects: (() => void)[] = []
  /** What the store has, without the start of the log. Undefined before the first commit of this owner. */
  #stored: Omit<SessionRecord, keyof LogStart> | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(
    state: SessionState,
    { head, updatedAt, fence, ...start }: LogPosition,
    { store, clock, committed, failed, mask = new Mask({}), terms }: LogDeps,
  ) {
    this.#committed = committed
    this.#failed = failed
    this.#mask = mask
    this.#terms = terms
    this.#fence = fence
    this.#start = start
    this.#state = state
    this.#storedQueue = state.queue
    this.#seq = head
    this.#at = updatedAt
    this.#store = store
    this.#clock = clock
  }

  /** The record as the store has it; undefined before the first commit of this owner, and after a trim. */
  get stored(): SessionRecord | undefined {
    if (!this.#stored || this.#isTrimmed) return undefined
    return { ...this.#stored, ...this.#start }
  }

  /** The open requests after all added events. */
  get requests(): SessionState['requests'] {
    return this.#state.requests
  }

  /** The store is about to evict entries. */
  trimmed(): void {
    this.#isTrimmed = true
  }

  add(event: Event, turn: number | undefined, native: number | undefined, blobs?: readonly BlobRef[]): void {
    if (this.#mask.isEmpty) this.#stamp(event, turn, native, blobs)
    else this.#mask.pass(event, (safe) => this.#stamp(safe, turn, native, blobs))
  }

  #stamp(
    event: Event,
    turn: number | undefined,
    native: number | undefined,
    blobs: readonly BlobRef[] | undefined,
  ): void {
    this.#at = this.#clock.now()
    this.#entries.push(stamp(++this.#seq, this.#state.id, turn, this.#at, event, native, blobs))
    if (!recordEvent(this.#state, event, this.#at, native)) return
    if (event.type === 'turn.queued') {
      const { type: _, position: __, ...accepted } = event
      this.#accepted.set(event.turn, accepted)
    }
    this.#changed = true
    if (isCalledFor(event.type)) {
      const { id: session, principal } = this.#state
      this.#calls.push({ session, seq: this.#seq, principal, type: event.type, at: this.#at })
    }
    const charge = chargeOf(this.#state, event, this.#at)
    if (charge) this.#charges.push(charge)
  }

  /** A process with this epoch is about to start. Recovery needs the epoch to find the process. */
  launched(epoch: number): void {
    this.#state.epoch = epoch
    this.#changed = true
    this.#recordDue = true
  }

  /** Records the native ids for resuming. */
  resumable({ proven, announced }: NativeIds): void {
    const { nativeSessionId, announcedSessionId } = this.#state
    if (proven === nativeSessionId && announced === announcedSessionId) return
    if (proven === undefined) delete this.#state.nativeSessionId
    else this.#state.nativeSessionId = proven
    if (announced === undefined) delete this.#state.announcedSessionId
    else this.#state.announcedSessionId = announced
    this.#changed = true
  }

  /** Stores the images of a queued prompt. No event contains them. */
  keepImages(turn: number, images: readonly Image[]): void {
    const accepted = this.#accepted.get(turn)
    if (images.length === 0 || !accepted) return
    const whole = { ...accepted, images }
    this.#accepted.set(turn, whole)
    this.#state.queue = this.#state.queue.map((prompt) =>
      prompt.turn === turn ? queuePreview(whole) : prompt,
    )
    this.#changed = true
  }

  /** Records the settings of the next process. */
  reconfigure(options: SessionOptions, mode: string | undefined): void {
    this.#state.options = options
    if (mode === undefined) delete this.#state.mode
    else this.#state.mode = mode
    this.#changed = true
    this.#recordDue = true
  }

  /** Records what a client has read. Only the record has this; there is no event. */
  delivered(reads: readonly TurnRead[]): void {
    Object.assign(this.#state, withDelivered(this.#state, reads, this.#state.turns))
    this.#changed = true
    this.#recordDue = true
  }

  /** Stores an idempotency key with the next commit, and the result of its command, if it has one. */
  use({ scope, key, fingerprint, answer }: Claim, result?: unknown): void {
    const { id: session } = this.#state
    const record = { ...this.#state, head: this.#seq, updatedAt: this.#at, ...this.#start }
    this.#receipts.push({ scope, key, fingerprint, session, answer: answerOf(answer, record, result) })
  }

  /** Adds a row of the audit trail to the next commit. */
  note(fact: AuditFact): void {
    this.#facts.push(fact)
  }

  /** Returns the text that is kept, with its secrets masked. */
  keepFrame(frame: number, stream: string, text: string): string {
    const kept = this.#mask.text(text)
    this.#journal.push({ frame, stream, text: kept })
    this.#hasOutput = true
    return kept
  }

  /**
   * Keeps what is sent to the agent, with its secrets masked. It waits for the next commit and causes none, unless
   * `isDue`: a process that outlives us must not have what its next owner does not know.
   */
  keepSent(frame: number, text: string, coverage: Coverage, isDue: boolean): void {
    this.#journal.push({ frame, stream: SENT, text })
    this.covered(frame, coverage)
    this.#hasOutput ||= isDue
  }

  /** Records the frame counts, and how far the output of a process was read that outlives us. */
  covered(frames: number, coverage: Coverage, position?: OutputPosition): void {
    if (position) this.#journal.push({ frame: frames, stream: READ, text: JSON.stringify(position) })
    this.#state.frames = frames
    this.#state.coverage = { ...coverage }
    this.#hasFrames = true
  }

  /** Runs `effect` after the next commit. */
  after(effect: () => void): void {
    this.#effects.push(effect)
  }

  /** The first commit, with an idempotency key. If the key exists already, writes nothing and drops the effects. */
  async begin(receipt?: Receipt): Promise<Receipt | undefined> {
    const effects = this.#effects.splice(0)
    const { batch, stored } = this.#take()
    const created = this.#store.create(this.#state.id, batch, receipt, this.#terms).then((held) => {
      if (held?.session !== receipt?.session) return held
      this.#stored = stored
      this.#committed?.(this.#state, batch)
      return held
    })
    // Later commits wait for this one, and fail if it fails.
    this.#writing = created.then(() => undefined)
    // The caller gets the error from `created`.
    this.#writing.catch(() => undefined)
    const held = await created
    if (held?.session === receipt?.session) for (const effect of effects) effect()
    return held
  }

  /**
   * Commits everything added so far, with the idempotency keys of the command that added it, then runs the effects.
   * Additions during a write share the next commit.
   */
  async commit(claims: readonly Claim[] = [], result?: unknown): Promise<void> {
    for (const claim of claims) this.use(claim, result)
    const effects = this.#effects.splice(0)
    this.#writing = this.#writing.then(async () => {
      const added = this.#entries.length + this.#receipts.length + this.#facts.length
      if (added === 0 && !this.#hasOutput && !this.#recordDue) return
      const { batch, stored } = this.#take()
      await this.#store.append(this.#state.id, batch, this.#fence)
      this.#stored = stored
      this.#committed?.(this.#state, batch)
    })
    try {
      await this.#writing
    } catch (thrown) {
      this.#failed?.(thrown)
      throw thrown
    }
    for (const effect of effects) effect()
  }

  /** Refuses further commits. Settles when no write is in flight. */
  async abandon(error: MainstemError): Promise<void> {
    const before = this.#writing
    this.#writing = before.then(() => Promise.reject(error))
    // Later commits reject with the error.
    this.#writing.catch(() => undefined)
    await Promise.allSettled([before])
  }

  /** The batch to write, and what the store has after it. */
  #take(): { batch: Batch; stored: Omit<SessionRecord, keyof LogStart> } {
    const batch: Batch = { entries: this.#entries, journal: this.#journal }
    const { queue, ...record } = this.#state
    const { frames, coverage } = record
    if (this.#changed) batch.record = record
    if (record.status === 'ended') batch.release = true
    if (queue !== this.#storedQueue) Object.assign(batch, this.#queueChange(queue))
    this.#storedQueue = queue
    this.#accepted.clear()
    if (this.#hasFrames && coverage) batch.frameCounts = { frames, coverage }
    if (this.#receipts.length > 0) batch.receipts = this.#receipts.splice(0)
    if (this.#charges.length > 0) batch.charges = this.#charges.splice(0)
    if (this.#facts.length > 0) batch.facts = this.#facts.splice(0)
    if (this.#calls.length > 0) batch.calls = this.#calls.splice(0)
    this.#entries = []
    this.#journal = []
    this.#changed = false
    this.#hasFrames = false
    this.#hasOutput = false
    this.#recordDue = false
    return { batch, stored: { ...record, queue, head: this.#seq, updatedAt: this.#at } }
  }

  /** The changes of the stored queue. A prompt that was added and removed in between is in neither list. */
  #queueChange(queue: SessionRecord['queue']): Pick<Batch, 'queued' | 'dequeued'> {
    const has = new Set(queue.map(({ turn }) => turn))
    const queued = [...this.#accepted.values()].filter(({ turn }) => has.has(turn))
    const dequeued = this.#storedQueue.map(({ turn }) => turn).filter((turn) => !has.has(turn))
    return { ...(queued.length > 0 && { queued }), ...(dequeued.length > 0 && { dequeued }) }
  }
}
