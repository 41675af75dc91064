import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../test/postgres/server.ts'
import { type DatabaseLoad, LoadMeter } from './postgres-load.ts'
import type { Measured, Task } from './postgres-worker.ts'

const WORKER = join(import.meta.dirname, 'postgres-worker.ts')
const NODES = [1, 2, 3] as const

interface Case {
  name: string
  mode?: 'append' | 'paced'
  sessions: number
  batch: number
  entries: number
}

/** From many small appends to few large ones. */
const CASES: readonly Case[] = [
  { name: '1 session, 1 entry an append', sessions: 1, batch: 1, entries: 400 },
  { name: '300 sessions, 1 entry an append', sessions: 300, batch: 1, entries: 15_000 },
  { name: '24 sessions, 20 entries an append', sessions: 24, batch: 20, entries: 72_000 },
  { name: '100 sessions × 20 a second, read', mode: 'paced', sessions: 100, batch: 1, entries: 20_000 },
]
const PUBLISHED = 500
const READERS = 100

/**
 * Appends, replay and fan-out through PostgreSQL with one to three nodes, each a process, beside SQLite in the same run.
 * The database and all nodes share this machine.
 */
export async function postgres(only: readonly string[]): Promise<void> {
  await using server = await startPostgres()
  const cases = CASES.filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)))
  print(HEADER.map(([title]) => title))
  for (const one of cases) {
    await besideSqlite(one)
    for (const nodes of NODES) await onPostgres(server.url, one, nodes)
  }
  if (only.length === 0 || only.includes('fan-out'))
    for (const nodes of NODES) await fanOut(server.url, nodes)
}

const HEADER: readonly (readonly [title: string, width: number])[] = [
  ['what', -36],
  ['store', -8],
  ['nodes', 5],
  ['entries/s', 10],
  ['commits/s', 10],
  ['p50 ms', 8],
  ['p99 ms', 8],
  ['node µs', 8],
  ['db µs', 8],
  ['WAL B', 8],
  ['disk B', 8],
  ['replay/s', 9],
]

async function besideSqlite(one: Case): Promise<void> {
  const store = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    const task: Task = { mode: 'append', store, node: 'n1', readers: 0, ...one }
    const appended = await together([task])
    const read = await together([{ ...task, mode: 'replay' }])
    print([one.name, 'sqlite', '1', ...figures(appended), '', '', '', perSecond(read)])
  } finally {
    rmSync(store, { recursive: true })
  }
}

async function onPostgres(server: string, one: Case, nodes: number): Promise<void> {
  await using fresh = await freshSchema(server)
  const { url, meter } = fresh
  const tasks = Array.from({ length: nodes }, (_, index): Task => {
    const share = { sessions: Math.ceil(one.sessions / nodes), entries: Math.floor(one.entries / nodes) }
    const { mode = 'append', batch } = one
    return { mode, store: url, node: `n${index + 1}`, readers: 0, batch, ...share }
  })
  const before: DatabaseLoad[] = []
  const appended = await together(tasks, async () => void before.push(await meter.read()))
  const load = loadBetween(before[0], await meter.read())
  const read = await together(tasks.map((task) => ({ ...task, mode: 'replay' })))
  const count = sum(appended, ({ entries }) => entries)
  const commits = load.transactions / secondsOf(appended)
  const stored = await fresh.bytes()
  const database = [load.cpuMicros, load.walBytes, stored].map((value) => (value / count).toFixed(0))
  print([one.name, 'postgres', String(nodes), ...figures(appended, commits), ...database, perSecond(read)])
}

/** One session that a node writes, and readers on all nodes. */
async function fanOut(server: string, nodes: number): Promise<void> {
  await using fresh = await freshSchema(server)
  const task: Task = {
    mode: 'publish',
    store: fresh.url,
    node: 'writer',
    sessions: 1,
    batch: 1,
    entries: PUBLISHED,
    readers: 0,
  }
  const readers = Array.from({ length: nodes }, (_, index): Task => {
    return { ...task, mode: 'follow', node: `n${index + 1}`, readers: READERS }
  })
  const [, ...read] = await together([task, ...readers])
  print([`100 entries/s to ${READERS} readers a node`, 'postgres', String(nodes), ...figures(read)])
}

interface Fresh extends AsyncDisposable {
  url: string
  meter: LoadMeter
  /** The size of all tables with their indexes. */
  bytes(): Promise<number>
}

async function freshSchema(server: string): Promise<Fresh> {
  const meter = await LoadMeter.connect(server)
  const url = new URL(server)
  const schema = `bench_${Math.random().toString(36).slice(2)}`
  url.searchParams.set('schema', schema)
  const remove = () => meter.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  return {
    url: url.href,
    meter,
    async bytes() {
      const [row] = await meter.query(
        `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class WHERE relkind = 'r' AND relnamespace = '${schema}'::regnamespace`,
      )
      return Number(row?.bytes)
    },
    async [Symbol.asyncDispose]() {
      await remove()
      await meter[Symbol.asyncDispose]()
    },
  }
}

/** Runs the tasks at the same time, each in a process; all of them begin when the last is ready. */
async function together(tasks: readonly Task[], begin?: () => Promise<void>): Promise<Measured[]> {
  const workers = tasks.map((task) => fork(WORKER, [JSON.stringify(task)]))
  // The first node creates the schema, and a reader needs its session, so they are started one after another.
  for (const worker of workers) await messageOf(worker)
  await begin?.()
  const results = workers.map(async (worker): Promise<Measured> => {
    const [measured] = await Promise.all([messageOf<Measured>(worker), once(worker, 'exit')])
    return measured
  })
  for (const worker of workers) worker.send('go')
  return Promise.all(results)
}

/** A worker that exits instead has printed why. */
async function messageOf<T>(worker: ChildProcess): Promise<T> {
  const exited = once(worker, 'exit').then(() => Promise.reject(new Error('a node exited before its time')))
  const [message] = await Promise.race([once(worker, 'message'), exited])
  return message
}

function figures(results: readonly Measured[], commits?: number): string[] {
  const count = sum(results, ({ entries }) => entries)
  const delays = results.flatMap((one) => one.delays).toSorted((a, b) => a - b)
  const at = (part: number) => (delays[Math.floor(delays.length * part)] ?? 0).toFixed(1)
  const cpu = sum(results, ({ cpuMicros }) => cpuMicros) / count
  return [perSecond(results), commits?.toFixed(0) ?? '', at(0.5), at(0.99), cpu.toFixed(0)]
}

function perSecond(results: readonly Measured[]): string {
  return (sum(results, ({ entries }) => entries) / secondsOf(results)).toFixed(0)
}

function secondsOf(results: readonly Measured[]): number {
  return (Math.max(...results.map(({ to }) => to)) - Math.min(...results.map(({ from }) => from))) / 1_000
}

function loadBetween(before: DatabaseLoad | undefined, after: DatabaseLoad): DatabaseLoad {
  return {
    cpuMicros: after.cpuMicros - (before?.cpuMicros ?? 0),
    walBytes: after.walBytes - (before?.walBytes ?? 0),
    transactions: after.transactions - (before?.transactions ?? 0),
  }
}

function sum(results: readonly Measured[], of: (one: Measured) => number): number {
  return results.reduce((total, one) => total + of(one), 0)
}

function print(cells: readonly string[]): void {
  const padded = cells.map((cell, index) => {
    const width = HEADER[index]?.[1] ?? 0
    return width < 0 ? cell.padEnd(-width) : cell.padStart(width)
  })
  process.stdout.write(`${padded.join(' ').trimEnd()}\n`)
}
