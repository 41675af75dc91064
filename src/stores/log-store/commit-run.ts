import { FIRST_FENCE, type LeaseTerms } from '../store.ts'
import type { SessionPlace } from './backend.ts'
import type { PreparedBatch } from './prepared-batch.ts'

/** Batches of one session that follow each other, committed as one. */
export interface CommitRun<P extends SessionPlace> {
  readonly session: string
  readonly fence: number
  readonly batches: readonly PreparedBatch[]
  /** Whether it must begin the session. */
  readonly begins: boolean
  /** The lease that the session begins with. */
  readonly terms: LeaseTerms | undefined
  /** The fence of the session after the run. */
  readonly fenceAfter: number
  /** The head that the log must have; undefined if there are no entries. */
  readonly after: number | undefined
  /** How many entries it has. */
  readonly added: number
  readonly releases: boolean
  /** Undefined while the session has no row. */
  place: P | undefined
  /** The connection broke while it was written, so it may be stored. */
  inDoubt: boolean
}

/** What was asked of a session: a batch, or other work that runs alone. */
export interface Waiting {
  session: string
  batch?: PreparedBatch
  work?: () => Promise<void>
  attempts: number
  /** Whether it reserves its session and its keys. */
  isTaken: boolean
  resolve(): void
  reject(error: unknown): void
}

/** A run, and the work that waits for its commit. */
export interface Running<P extends SessionPlace> extends CommitRun<P> {
  batches: PreparedBatch[]
  after: number | undefined
  added: number
  releases: boolean
  readonly waiting: Waiting[]
}

/** Work to be done at the same time: runs that are committed together, or one piece of other work. */
export interface Taken<P extends SessionPlace> {
  all: Waiting[]
  runs: Map<string, Running<P>>
  /** What has to wait, in order. */
  left: Waiting[]
}

/** The limits of text and batches per transaction. */
const GROUP_CHARS = 8 * 1024 * 1024
const GROUP_BATCHES = 1024

/**
 * Chooses from the queue what can be done now. Sessions and keys in `reserved` belong to work that is under way. Nothing
 * overtakes earlier work of its session.
 */
export function takeGroup<P extends SessionPlace>(
  queue: readonly Waiting[],
  reserved: { sessions: ReadonlySet<string>; keys: ReadonlySet<string> },
): Taken<P> {
  const group: Taken<P> = { all: [], runs: new Map(), left: [] }
  const blocked = new Set<string>()
  const keys = new Set(reserved.keys)
  let chars = 0
  let isFull = false
  for (const waiting of queue) {
    const { session, batch, attempts } = waiting
    const isFree = !isFull && !reserved.sessions.has(session) && !blocked.has(session)
    if (!isFree || !(batch ? addBatch(group, waiting, batch, keys) : group.all.length === 0)) {
      group.left.push(waiting)
      blocked.add(session)
      continue
    }
    group.all.push(waiting)
    // Refused together with others before, so it is committed by itself.
    if (attempts > 0) blocked.add(session)
    chars += batch?.chars ?? 0
    isFull = !batch || chars >= GROUP_CHARS || group.all.length >= GROUP_BATCHES
  }
  return group
}

/** Whether the group can have this batch too. */
function addBatch<P extends SessionPlace>(
  { runs }: Taken<P>,
  waiting: Waiting,
  batch: PreparedBatch,
  keys: Set<string>,
): boolean {
  for (const { id } of batch.receipts) if (keys.has(id)) return false
  const run = runs.get(batch.session)
  if (!run) runs.set(batch.session, begin(waiting, batch))
  else if (waiting.attempts > 0 || !extend(run, waiting, batch)) return false
  for (const { id } of batch.receipts) keys.add(id)
  return true
}

function begin<P extends SessionPlace>(waiting: Waiting, batch: PreparedBatch): Running<P> {
  const { session, fence, after, entries, release: releases } = batch
  const terms = batch.begin?.terms
  return {
    ...{ session, fence, after, releases, terms },
    batches: [batch],
    begins: batch.begin !== undefined,
    fenceAfter: terms ? FIRST_FENCE : fence,
    added: entries.length,
    place: undefined,
    inDoubt: false,
    waiting: [waiting],
  }
}

/** Adds a batch to a run if it continues it. The database refuses a batch that does not. */
function extend<P extends SessionPlace>(run: Running<P>, waiting: Waiting, batch: PreparedBatch): boolean {
  // If only a later batch has entries, their head is the head before the run.
  const last = run.after === undefined ? undefined : run.after + run.added
  const continues = batch.after === undefined || last === undefined || batch.after === last
  if (!continues || batch.fence !== run.fence || batch.begin || run.begins) return false
  run.batches.push(batch)
  run.after ??= batch.after
  run.added += batch.entries.length
  run.releases ||= batch.release
  run.waiting.push(waiting)
  return true
}
