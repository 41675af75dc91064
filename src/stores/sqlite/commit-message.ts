import type { SessionPlace } from '../log-store/backend.ts'
import type { CommitRun } from '../log-store/commit-run.ts'
import { FIRST_FENCE, NO_FENCE } from '../store.ts'
import type { Blobs } from './blobs.ts'
import type { Commit, LeaseRow } from './message.ts'
import { addRow } from './packed-rows.ts'

export function emptyCommit(): Commit {
  return {
    kind: 'commit',
    sessions: [],
    leases: [],
    log: {},
    journal: {},
    frameCounts: [],
    records: [],
    dequeued: [],
    queued: [],
    receipts: [],
    blobs: [],
    charges: [],
    facts: [],
  }
}

/** Adds the rows of a run of session `n`. */
export function addRun(commit: Commit, n: number, run: CommitRun<SessionPlace>, blobs: Blobs): void {
  const { session } = run
  const lease = leaseOf(run)
  if (!run.place) commit.sessions.push({ n, id: session, fence: NO_FENCE, owner: undefined, ...lease })
  else if (lease) commit.leases.push({ n, ...lease })
  for (const batch of run.batches) {
    const { log, queued, frames } = batch
    // The message takes its rows with it, so that they are not in memory twice.
    Object.assign(batch, { log: [], queued: [], frames: undefined })
    for (const row of log) addRow(commit.log, { ...row, n })
    if (frames) addRow(commit.journal, { ...frames, n })
    for (const row of queued) commit.queued.push({ ...row, n })
    if (batch.record) commit.records.push({ ...batch.record, n, session })
    for (const turn of batch.dequeued) commit.dequeued.push({ n, turn })
    if (batch.frameCounts) {
      const { frames, coverage } = batch.frameCounts
      const { mapped, unmapped, malformed, oversized } = coverage
      commit.frameCounts.push(n, frames, coverage.frames, mapped, unmapped, malformed, oversized)
    }
    commit.receipts.push(...batch.receipts)
    commit.charges.push(...batch.charges)
    for (const fact of batch.facts) commit.facts.push({ ...fact, at: Date.now() })
    for (const id of batch.blobs) commit.blobs.push({ id, n, content: blobs.takeSum(id) })
  }
}

/** The lease after a run, if the run changes it. */
function leaseOf({ terms, releases, fence }: CommitRun<SessionPlace>): Omit<LeaseRow, 'n'> | undefined {
  const owner = releases ? undefined : terms?.owner
  if (terms) return { fence: FIRST_FENCE, owner }
  return releases ? { fence, owner } : undefined
}
