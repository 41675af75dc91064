import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgresStore } from '../src/stores/postgres.ts'
import { sqliteStore } from '../src/stores/sqlite.ts'
import { FIRST_FENCE, type Store } from '../src/stores/store.ts'
import { SessionStream } from './stream.ts'

/** The work of one node: append to its own sessions, read them, or take part in a fan-out. */
export interface Task {
  mode: 'append' | 'paced' | 'replay' | 'publish' | 'follow'
  /** A URL of PostgreSQL, or a directory for SQLite. */
  store: string
  node: string
  sessions: number
  /** Entries of one append. */
  batch: number
  /** Entries in all; for readers, the entries of the one session. */
  entries: number
  readers: number
}

export interface Measured {
  entries: number
  appends: number
  cpuMicros: number
  /** Wall-clock times of the system, so that nodes can be compared. */
  from: number
  to: number
  /** Milliseconds to the acknowledgement of an append, or from the append to a reader. */
  delays: number[]
}

const READ = 512
/** Appends per second of the session that everybody reads. */
const PUBLISHED_A_SECOND = 100
/** Appends per second of each session that appends in time. */
const PACED_A_SECOND = 20
const never = new AbortController().signal
/** The session that everybody reads. */
const SHARED = 'shared'

/** What the agents of the sessions say, with raw frames. */
const streams = new Map<string, SessionStream>()

const task: Task = JSON.parse(process.argv[2] ?? '')
await using store = await open()
const work = { append, paced, replay, publish, follow }[task.mode]
const started = await prepare()
process.send?.('ready')
await once(process, 'message')
const cpu = process.cpuUsage()
const from = Date.now()
const done = await work(started)
const { user, system } = process.cpuUsage(cpu)
const measured: Measured = { ...done, cpuMicros: user + system, from, to: Date.now() }
process.send?.(measured, () => process.disconnect?.())

type Done = Pick<Measured, 'entries' | 'appends' | 'delays'>

function open(): Promise<Store> {
  if (task.store.startsWith('postgres:')) return postgresStore({ url: task.store })
  return sqliteStore({ directory: task.store, durability: 'power' })
}

/** Sessions are created before the clock starts. */
async function prepare(): Promise<string[]> {
  if (task.mode === 'follow') return [SHARED]
  const ids = Array.from({ length: task.sessions }, (_, index) => `${task.node}-${index}`)
  const all = task.mode === 'publish' ? [SHARED] : ids
  const terms = { owner: task.node, ttlMs: 600_000 }
  if (task.mode !== 'replay')
    await Promise.all(all.map((id) => store.create(id, streamOf(id).next(1), undefined, terms)))
  return all
}

/** Every session appends as soon as its last append is acknowledged. */
async function append(ids: readonly string[]): Promise<Done> {
  const each = Math.floor(task.entries / ids.length)
  const delays: number[] = []
  const one = async (id: string) => {
    for (let seq = 2; seq < 2 + each; seq += task.batch) {
      const asked = performance.now()
      await store.append(id, streamOf(id).next(task.batch), FIRST_FENCE)
      delays.push(performance.now() - asked)
    }
  }
  await Promise.all(ids.map(one))
  return { entries: delays.length * task.batch, appends: delays.length, delays }
}

/** Every session appends in time and has a reader. The delay is from the append to the reader. */
async function paced(ids: readonly string[]): Promise<Done> {
  const each = Math.floor(task.entries / ids.length)
  const delays: number[] = []
  const start = performance.now()
  const write = async (id: string, index: number) => {
    for (let seq = 2; seq < 2 + each; seq++) {
      const due = start + ((seq + index / ids.length) * 1_000) / PACED_A_SECOND
      await sleep(Math.max(0, due - performance.now()))
      await store.append(id, streamOf(id).next(1), FIRST_FENCE)
    }
  }
  const read = async (id: string) => {
    for (let after = 1; after < 1 + each; ) {
      await store.changed(id, after, never)
      for (const { at } of await store.read(id, after, READ)) {
        delays.push(Date.now() - at)
        after++
      }
    }
  }
  await Promise.all(ids.flatMap((id, index) => [write(id, index), read(id)]))
  return { entries: delays.length, appends: delays.length, delays }
}

async function replay(ids: readonly string[]): Promise<Done> {
  let count = 0
  for (const id of ids) {
    for (let after = 0; ; ) {
      const read = await store.read(id, after, READ)
      if (read.length === 0) break
      after += read.length
      count += read.length
    }
  }
  return { entries: count, appends: 0, delays: [] }
}

async function publish(): Promise<Done> {
  const start = performance.now()
  for (let seq = 2; seq <= task.entries; seq++) {
    await sleep(Math.max(0, start + (seq * 1_000) / PUBLISHED_A_SECOND - performance.now()))
    await store.append(SHARED, streamOf(SHARED).next(1), FIRST_FENCE)
  }
  return { entries: task.entries, appends: task.entries, delays: [] }
}

/** Each reader waits for new entries and reads them. The delay counts from the time of the entry. */
async function follow(): Promise<Done> {
  const { signal } = new AbortController()
  const delays: number[] = []
  const one = async () => {
    for (let after = 1; after < task.entries; ) {
      await store.changed(SHARED, after, signal)
      for (const { at } of await store.read(SHARED, after, READ)) {
        delays.push(Date.now() - at)
        after++
      }
    }
  }
  await Promise.all(Array.from({ length: task.readers }, one))
  return { entries: delays.length, appends: 0, delays }
}

function streamOf(session: string): SessionStream {
  const stream = streams.get(session) ?? new SessionStream(session)
  streams.set(session, stream)
  return stream
}
