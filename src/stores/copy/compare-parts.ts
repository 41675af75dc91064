import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { MainstemError } from '../../model/mainstem-error.ts'
import { type CopyRows, type CopySource, PARTS, type Part } from './copyable.ts'
import { sourceChanged } from './refusals.ts'
import type { Tally } from './tally.ts'

/** Compares two stores row by row, and the content of blobs. Both stores compare each row with its checksum as well. */
export async function compareParts(source: CopySource, target: CopySource, tally: Tally): Promise<void> {
  for (const part of PARTS) {
    if (part === 'natives' || part === 'usage') await compareUnordered(part, source, target)
    else await compareOrdered(part, source, target, tally)
  }
}

async function compareOrdered(
  part: Part,
  source: CopySource,
  target: CopySource,
  tally: Tally,
): Promise<void> {
  const copies = copiesIn(target, part)
  try {
    for await (const page of source.parts[part].read()) {
      for (const row of page) {
        const { value: copy } = await copies.next()
        if (!isDeepStrictEqual(row, copy)) throw sourceChanged(described(part, row))
        if (part === 'blobs' && 'id' in row) await compareContent(row.id, source, target, tally)
      }
      tally.add(part, page)
    }
    const { value: more } = await copies.next()
    if (more) throw sourceChanged(described(part, more))
  } finally {
    await copies.return(undefined)
  }
}

async function* rowsOf(store: CopySource, part: Part): AsyncGenerator<CopyRows[Part], undefined> {
  for await (const page of store.parts[part].read()) yield* page
}

/** A row that was copied before its source changed may contradict the rows that were copied later. */
async function* copiesIn(target: CopySource, part: Part): AsyncGenerator<CopyRows[Part], undefined> {
  try {
    yield* rowsOf(target, part)
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
  part: 'natives' | 'usage',
  source: CopySource,
  target: CopySource,
): Promise<void> {
  const sums = [await digestSum(source, part), await digestSum(target, part)]
  if (sums[0] !== sums[1]) throw sourceChanged(NAMES[part])
}

const DIGEST_BITS = 256

async function digestSum(store: CopySource, part: 'natives' | 'usage'): Promise<bigint> {
  let sum = 0n
  for await (const row of rowsOf(store, part)) {
    const digest = createHash('sha256').update(JSON.stringify(row)).digest('hex')
    sum = BigInt.asUintN(DIGEST_BITS, sum + BigInt(`0x${digest}`))
  }
  return sum
}

const NAMES: Readonly<Record<Part, string>> = {
  sessions: 'the record',
  log: 'the log',
  journal: 'the raw frames',
  queued: 'the queue',
  blobs: 'the list of blobs',
  receipts: 'an idempotency key',
  natives: 'the list of native conversations',
  usage: 'the daily usage',
}

function describedDamage({ what, session }: Readonly<Record<string, unknown>>): string {
  return session === undefined ? String(what) : `${what} of session ${session}`
}

function described(part: Part, row: CopyRows[Part]): string {
  if (part === 'sessions' && 'id' in row) return `session ${row.id}`
  const entries = 'first' in row ? ` (entries ${row.first} to ${row.last})` : ''
  return 'session' in row ? `${NAMES[part]} of session ${row.session}${entries}` : NAMES[part]
}
