import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setInterval } from 'node:timers/promises'
import type { Entry } from '../src/model/index.ts'
import { sqliteStore } from '../src/stores/sqlite.ts'
import type { Batch, Store } from '../src/stores/store.ts'

/** One measurement in a separate process. */
export interface Task {
  mode: 'write' | 'append' | 'paced' | 'parse' | 'replay'
  directory: string
  durability: 'power' | 'process'
  journal: boolean
  sessions: number
  /** Entries of one append. */
  batch: number
  /** In all. */
  events: number
}

export interface Measured {
  events: number
  cpuMicros: number
  seconds: number
  /** Milliseconds to the acknowledgement, and of delay of the event loop: p50 and p99. */
  ack: [number, number]
  loop: [number, number]
}

/** The load of 500 sessions with 20 events per second each. */
const PACED_A_MILLISECOND = 10
const READ = 512
const TEXT = 'All work and no play makes Jack a dull boy. '.repeat(5)
const FRAME = JSON.stringify({ type: 'stream_event', event: { type: 'content_block_delta', text: TEXT } })

const task: Task = JSON.parse(process.argv[2] ?? '')
const acks: number[] = []

if (task.mode === 'write') await measure(bareWrite)
else if (task.mode === 'parse') await measure(bareParse)
else {
  const { directory, durability } = task
  await using store = await sqliteStore({ directory, durability })
  const work = { append: burst, paced, replay }[task.mode]
  await measure(() => work(store))
}

async function measure(work: () => Promise<number> | number): Promise<void> {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const cpu = process.cpuUsage()
  const start = performance.now()
  const events = await work()
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const result: Measured = { events, cpuMicros: user + system, seconds, ack: quantiles(), loop: delays(loop) }
  process.stdout.write(JSON.stringify(result))
}

/** A lower bound: appends every entry as JSON to a file, without waiting. */
function bareWrite(): number {
  const file = openSync(join(task.directory, 'bare.jsonl'), 'a', 0o600)
  for (let seq = 1; seq <= task.events; seq += task.batch) {
    const lines = entries(ids()[0] ?? '', seq, task.batch).map((entry) => JSON.stringify(entry))
    writeSync(file, `${lines.join('\n')}\n`)
  }
  closeSync(file)
  return task.events
}

function bareParse(): number {
  const lines = readFileSync(join(task.directory, 'bare.jsonl'), 'utf8').split('\n')
  return lines.filter((line) => line !== '' && JSON.parse(line) !== undefined).length
}

/** Every session appends as fast as it is answered. */
async function burst(store: Store): Promise<number> {
  const each = Math.floor(task.events / task.sessions)
  await Promise.all(
    ids().map(async (id) => {
      const head = await store.head(id)
      for (let seq = head + 1; seq <= head + each; seq += task.batch) await store.append(id, batch(id, seq))
    }),
  )
  return each * task.sessions
}

/** Each session in turn, so many a millisecond, whether or not the one before was answered. */
async function paced(store: Store): Promise<number> {
  const heads = await Promise.all(ids().map(async (id) => ({ id, head: await store.head(id) })))
  const waiting: Promise<void>[] = []
  const start = performance.now()
  for await (const _ of setInterval(1)) {
    const due = Math.min(task.events, (performance.now() - start) * PACED_A_MILLISECOND)
    while (waiting.length < due) {
      const log = heads[waiting.length % heads.length] ?? { id: '', head: 0 }
      waiting.push(timed(store.append(log.id, batch(log.id, log.head + 1))))
      log.head += task.batch
    }
    if (due >= task.events) break
  }
  await Promise.all(waiting)
  return waiting.length * task.batch
}

async function replay(store: Store): Promise<number> {
  let events = 0
  for (const id of ids()) {
    for (let after = 0; ; ) {
      const read = await store.read(id, after, READ)
      if (read.length === 0) break
      after += read.length
      events += read.length
    }
  }
  return events
}

async function timed(answer: Promise<void>): Promise<void> {
  const start = performance.now()
  await answer
  acks.push(performance.now() - start)
}

function ids(): string[] {
  const id = (index: number) => `6b0a0a3e-6a50-4a6e-9f6c-${String(index).padStart(12, '0')}`
  return Array.from({ length: task.sessions }, (_, index) => id(index))
}

function batch(id: string, first: number): Batch {
  const frame = (index: number) => ({ frame: first + index, stream: 'stdout', text: FRAME })
  const journal = task.journal ? Array.from({ length: task.batch }, (_, index) => frame(index)) : []
  return { entries: entries(id, first, task.batch), journal }
}

function entries(session: string, first: number, count: number): Entry[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: first + index,
    session,
    turn: 1,
    at: Date.now(),
    event: { type: 'text.delta', messageId: 'msg_01', text: TEXT },
    native: first + index,
  }))
}

function quantiles(): [number, number] {
  const sorted = acks.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? 0
  return [at(0.5), at(0.99)]
}

function delays(loop: ReturnType<typeof monitorEventLoopDelay>): [number, number] {
  return [loop.percentile(50) / 1e6, loop.percentile(99) / 1e6]
}
