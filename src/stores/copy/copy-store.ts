import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import type { Continuity } from '../continuity.ts'
import { type Row, text } from '../row.ts'
import type { TableName } from '../tables.ts'
import { compareTables, refusingContinuity } from './compare-tables.ts'
import { type CopySource, type CopyTarget, type CopyTotals, PARTS } from './copyable.ts'
import { Tally } from './tally.ts'

export interface CopyProgress extends CopyTotals {
  phase: 'copy' | 'verify'
  bytes: number
  totals: CopyTotals
}

export interface CopyOptions {
  /** Discards an unfinished copy instead of continuing it. */
  restart?: boolean
  /** Called after each page. */
  progress?: (progress: CopyProgress) => void
}

export interface CopySummary extends CopyTotals {
  from: string
  to: string
  blobs: number
  receipts: number
  /** Text and blobs that were compared. */
  bytes: number
  /** The kind of run: `continued` after an interruption, or found complete already. */
  outcome: 'copied' | 'continued' | 'unchanged'
}

/**
 * Copies everything durable, compares both stores row by row, and only then lets servers open the target. An
 * interrupted copy continues after the last row that the target has.
 */
export async function copyStore(
  source: CopySource,
  target: CopyTarget,
  { restart = false, progress = () => undefined }: CopyOptions = {},
): Promise<CopySummary> {
  await checkIdle(source, target)
  const totals = await source.totals()
  const report = (tally: Tally) => progress({ ...tally.progress, totals })
  const { unfinished, finished, isEmpty } = await target.state()
  if (finished === source.name && unfinished === undefined && !isEmpty) {
    return summaryOf(source, target, 'unchanged', await compareAgain(source, target, report))
  }
  if (unfinished === undefined && !isEmpty) throw occupied(target)
  if (unfinished !== undefined && restart) await target.clear()
  else if (unfinished !== undefined && unfinished !== source.name) throw otherSource(target, unfinished)
  await target.begin(source.name)
  const copied = new Tally('copy', await target.totals(), report)
  const isContinued = unfinished !== undefined && !restart
  // A copy that is continued has not read all rows; the comparison does.
  const continuity = isContinued ? undefined : refusingContinuity()
  for (const table of PARTS) await copyTable(table, source, target, { tally: copied, continuity })
  continuity?.end()
  await target.complete(await source.openTime())
  const compared = new Tally('verify', { sessions: 0, entries: 0 }, report)
  await compareTables(source, target, compared)
  await checkIdle(source, target)
  await target.finish(source.name)
  return summaryOf(source, target, isContinued ? 'continued' : 'copied', compared)
}

async function checkIdle(source: CopySource, target: CopyTarget): Promise<void> {
  await source.checkIdle()
  await target.checkIdle()
}

async function copyTable(
  table: TableName,
  source: CopySource,
  target: CopyTarget,
  { tally, continuity }: { tally: Tally; continuity: Continuity | undefined },
): Promise<void> {
  for await (const page of source.read(table, await target.last(table))) {
    for (const row of page) continuity?.add(table, row)
    if (table === 'blob') await copyContent(page, source, target, tally)
    await target.add(table, page)
    tally.add(table, page)
  }
}

/** The content first: a row without its content would be a lost blob. */
async function copyContent(
  page: readonly Row[],
  source: CopySource,
  target: CopyTarget,
  tally: Tally,
): Promise<void> {
  for (const row of page) {
    const id = text(row, 'id')
    await target.writeBlob(id, tally.counted(source.readBlob(id)))
  }
}

/** A copy that was interrupted after its end is complete; a store that was used since is not overwritten. */
async function compareAgain(
  source: CopySource,
  target: CopyTarget,
  report: (tally: Tally) => void,
): Promise<Tally> {
  const tally = new Tally('verify', { sessions: 0, entries: 0 }, report)
  try {
    await compareTables(source, target, tally)
    return tally
  } catch (thrown) {
    if (thrown instanceof MainstemError && thrown.code === 'conflict') throw occupied(target, thrown)
    throw thrown
  }
}

function summaryOf(
  { name: from }: CopySource,
  { name: to }: CopyTarget,
  outcome: CopySummary['outcome'],
  { progress: { sessions, entries, bytes }, blobs, receipts }: Tally,
): CopySummary {
  return { from, to, outcome, sessions, entries, blobs, receipts, bytes }
}

function occupied({ name }: CopyTarget, cause?: unknown): MainstemError {
  const advice = 'Name an empty database, or a directory that does not exist.'
  return new MainstemError('conflict', `${name} already holds other sessions`, { advice }, { cause })
}

function otherSource({ name }: CopyTarget, unfinished: string): MainstemError {
  return new MainstemError('conflict', `${name} is an unfinished copy of ${unfinished}`, {
    advice: 'Finish that copy, or replace it with --restart.',
  })
}
