import { pick, randomFrom } from '../faults/random.ts'
import type { Entry } from '../src/model/index.ts'
import { searchTerms } from '../src/model/text/search-terms.ts'
import { Database } from '../src/stores/postgres/database.ts'
import { WordIndex } from '../src/stores/postgres/search/word-index.ts'
import { postgresStore } from '../src/stores/postgres.ts'
import type { SessionState, Store } from '../src/stores/store.ts'
import { startPostgres } from '../test/postgres/server.ts'
import { state } from '../test/stores/sqlite-parts.ts'
import { median } from './median.ts'

const SESSIONS = 50
const BATCH = 10
const ENTRIES = 20_000
const WORDS_PER_ENTRY = 40
const SEARCHES = 15

const random = randomFrom(11)
const common = 'the file test server returns an error when its lock is held by another process'.split(' ')
/** Three of four words are frequent, the others one of 20,000. */
const word = () => (random() < 0.75 ? pick(random, common) : Math.floor(random() * 20_000).toString(36))

/** The cost of PostgreSQL's index of words beside the appends that it is made of, and what a search takes with it. */
export async function search(): Promise<void> {
  await using server = await startPostgres()
  await using database = await Database.open({ url: server.url })
  const appendMs = await appendAll(server.url)
  const index = new WordIndex(database)
  const indexMs = await timed(async () => {
    while ((await index.step()) !== 'nothing');
  })
  const [size = {}] = await database.read(`SELECT pg_total_relation_size('mainstem.log')::float8 AS log,
    pg_total_relation_size('mainstem.document')::float8 AS words`)
  print('append', appendMs, `${perSecond(appendMs)} entries/s`)
  print(
    'index',
    indexMs,
    `${perSecond(indexMs)} entries/s, ${(indexMs / appendMs).toFixed(2)} of the time of appends`,
  )
  print(
    'disk',
    undefined,
    `${(Number(size.words) / Number(size.log)).toFixed(2)} bytes for each byte of the log`,
  )
  await using store = await postgresStore({ url: server.url })
  for (const words of ['zzz', 'lock', 'the file 5k', 'serv err', 'missing'])
    print(`search ${words}`, median(await searchTimes(store, words)), '')
}

async function appendAll(url: string): Promise<number> {
  await using store = await postgresStore({ url })
  const each = ENTRIES / SESSIONS
  return await timed(async () => {
    await Promise.all(Array.from({ length: SESSIONS }, (_, at) => appendTo(store, state(`s${at}`), each)))
  })
}

async function appendTo(store: Store, record: SessionState, count: number): Promise<void> {
  for (let seq = 1; seq <= count; seq += BATCH) {
    const entries = Array.from({ length: BATCH }, (_, at) => entry(record.id, seq + at))
    await store.append(record.id, { entries, ...(seq === 1 && { record }) })
  }
}

function entry(session: string, seq: number): Entry {
  const text = Array.from({ length: WORDS_PER_ENTRY }, word).join(' ')
  return { seq, session, at: seq, event: { type: 'text.completed', messageId: `m${seq}`, text } }
}

async function searchTimes(store: Store, words: string): Promise<number[]> {
  const times: number[] = []
  const query = { principal: 'local', terms: searchTerms(words), limit: 50 }
  for (let count = 0; count < SEARCHES; count++) times.push(await timed(() => store.search(query)))
  return times
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const perSecond = (ms: number) => Math.round((ENTRIES / ms) * 1_000)

function print(what: string, ms: number | undefined, more: string): void {
  console.log(
    `${what.padEnd(24)} ${ms === undefined ? ''.padStart(11) : `${ms.toFixed(1).padStart(8)} ms`}  ${more}`,
  )
}
