import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { Continuity } from '../continuity.ts'
import { damaged } from '../refusals.ts'
import { type Row, text } from '../row.ts'
import { NAMES, type TableName } from '../tables.ts'
import { type CopySource, PARTS, sourceChanged, UNORDERED } from './copyable.ts'
import type { Tally } from './tally.ts'

/** Compares two stores row by row, and the content of blobs. Both stores compare each row with its checksum as well. */
export async function compareTables(source: CopySource, target: CopySource, tally: Tally): Promise<void> {
  const continuity = refusingContinuity()
  for (const table of PARTS) {
    if (UNORDERED.has(table)) await compareUnordered(table, source, target, tally)
    else await compareOrdered(table, source, target, { tally, continuity })
  }
  continuity.end()
}

/** Refuses a source with lost or repeated rows. */
export function refusingContinuity(): Continuity {
  return new Continuity((what, location) => {
    throw damaged(what, location)
  })
}

async function compareOrdered(
  table: TableName,
  source: CopySource,
  target: CopySource,
  { tally, continuity }: { tally: Tally; continuity: Continuity },
): Promise<void> {
  const copies = copiesIn(target, table)
  try {
    for await (const page of source.read(table)) {
      for (const row of page) {
        continuity.add(table, row)
        const { value: copy } = await copies.next()
        if (!isDeepStrictEqual(row, copy)) throw sourceChanged(described(table, row))
        if (table === 'blob') await compareContent(text(row, 'id'), source, target, tally)
      }
      tally.add(table, page)
    }
    const { value: more } = await copies.next()
    if (more) throw sourceChanged(described(table, more))
  } finally {
    await copies.return(undefined)
  }
}

async function* rowsOf(store: CopySource, table: TableName): AsyncGenerator<Row, undefined> {
  for await (const page of store.read(table)) yield* page
}

/** A row that was copied before its source changed may contradict the rows that were copied later. */
async function* copiesIn(target: CopySource, table: TableName): AsyncGenerator<Row, undefined> {
  try {
    yield* rowsOf(target, table)
  } catch (thrown) {
    if (!(thrown instanceof MainstemError) || thrown.details?.what === undefined) throw thrown
    throw sourceChanged(describedDamage(thrown.details), thrown)
  }
}

async function compareContent(
  id: string,
  source: CopySource,
  target: CopySource,
  tally: Tally,
): Promise<void> {
  const original = await digestOf(tally.counted(source.readBlob(id)))
  if (original !== (await digestOf(target.readBlob(id)))) throw sourceChanged(`blob ${id}`)
}

async function digestOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

/** The sum of the digests of all rows does not depend on their order. */
async function compareUnordered(
  table: TableName,
  source: CopySource,
  target: CopySource,
  tally: Tally,
): Promise<void> {
  const sums = [
    await digestSum(source, table, (page) => tally.add(table, page)),
    await digestSum(target, table, () => undefined),
  ]
  if (sums[0] !== sums[1]) throw sourceChanged(NAMES[table])
}

const DIGEST_BITS = 256

async function digestSum(
  store: CopySource,
  table: TableName,
  onPage: (page: readonly Row[]) => void,
): Promise<bigint> {
  let sum = 0n
  for await (const page of store.read(table)) {
    for (const row of page) {
      const digest = createHash('sha256').update(JSON.stringify(row)).digest('hex')
      sum = BigInt.asUintN(DIGEST_BITS, sum + BigInt(`0x${digest}`))
    }
    onPage(page)
  }
  return sum
}

function describedDamage({ what, session }: Readonly<Record<string, unknown>>): string {
  return session === undefined ? String(what) : `${what} of session ${session}`
}

function described(table: TableName, { session, first, last }: Row): string {
  if (table === 'session') return `session ${session}`
  const entries = first === undefined ? '' : ` (entries ${first} to ${last})`
  return session === undefined ? NAMES[table] : `${NAMES[table]} of session ${session}${entries}`
}
