import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../test/postgres/server.ts'
import { claudeStream } from './library-streams.ts'
import { median } from './median.ts'
import { LoadMeter } from './postgres-load.ts'
import type { Measured, Task } from './session-worker.ts'

const WORKER = join(import.meta.dirname, 'session-worker.ts')
const BURST_LINES = 50_000
const ROUNDS = 3
/** Seconds for which an agent speaks in time. */
const SECONDS = 10

interface Case {
  name: string
  sessions: number
  rate: number
  rounds: number
}

const CASES: readonly Case[] = [
  { name: 'burst', sessions: 1, rate: 0, rounds: ROUNDS },
  { name: '20 lines a second', sessions: 1, rate: 20, rounds: 1 },
  { name: '100 lines a second', sessions: 1, rate: 100, rounds: 1 },
]

/**
 * Processor time of a line from the pipe of an agent to its reader, through sessions with SQLite and with PostgreSQL, with
 * raw frames, beside a loop that parses the same lines and keeps nothing. Each measurement is a separate process.
 */
export async function session(only: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    await using server = await startPostgres()
    await using meter = await LoadMeter.connect(server.url)
    print(['what', 'store', 'lines', 'µs a line', 'to loop', 'RSS MB', 'p50 ms', 'p99 ms', 'db µs', 'WAL B'])
    for (const one of CASES) {
      if (only.length > 0 && !only.some((word) => one.name.includes(word))) continue
      await measure(folder, server.url, meter, one)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function measure(folder: string, url: string, meter: LoadMeter, one: Case): Promise<void> {
  const streams = streamsOf(folder, one.rate)
  const { sessions, rate } = one
  const run = (store: string) => work({ store, streams, sessions, rate })
  const found = { loop: [] as Measured[], sqlite: [] as Measured[], postgres: [] as Measured[] }
  let [cpu, wal] = [0, 0]
  // In turn, so that noise affects all of them.
  for (let round = 0; round < one.rounds; round++) {
    found.loop.push(run('loop'))
    found.sqlite.push(run(mkdtempSync(join(folder, 'store-'))))
    const before = await meter.read()
    found.postgres.push(run(url))
    const after = await meter.read()
    cpu += after.cpuMicros - before.cpuMicros
    wal += after.walBytes - before.walBytes
  }
  const loop = microsOf(found.loop)
  for (const [store, all] of Object.entries(found)) {
    const of = (value: (one: Measured) => number) => median(all.map(value))
    // The warm-up has as many lines.
    const lines = 2 * all.reduce((sum, { lines }) => sum + lines, 0)
    const database = store === 'postgres' ? [(cpu / lines).toFixed(1), (wal / lines).toFixed(0)] : []
    const micros = microsOf(all)
    const delays = rate > 0 && store !== 'loop' ? [of(({ p50 }) => p50), of(({ p99 }) => p99)] : []
    print([
      one.name,
      store,
      String(of(({ lines }) => lines)),
      micros.toFixed(1),
      (micros / loop).toFixed(2),
      of(({ rssMb }) => rssMb).toFixed(0),
      ...(delays.length > 0 ? delays.map((ms) => ms.toFixed(1)) : ['', '']),
      ...database,
    ])
  }
}

const microsOf = (all: readonly Measured[]) => median(all.map(({ cpuMicros, lines }) => cpuMicros / lines))

/** A stream for the warm-up and one that is measured, of the same length. */
function streamsOf(folder: string, rate: number): [string, string] {
  const { lines } = claudeStream(50)
  const end = rate > 0 ? rate * SECONDS : BURST_LINES
  const path = join(folder, `stream-${rate}.jsonl`)
  const whole = [...lines.slice(0, end - 1), lines.at(-1) ?? '']
  writeFileSync(path, `${whole.join('\n')}\n`)
  return [path, path]
}

function work(task: Task): Measured {
  return JSON.parse(execFileSync(process.execPath, [WORKER, JSON.stringify(task)], { encoding: 'utf8' }))
}

const WIDTHS = [-28, -9, 8, 10, 8, 7, 8, 8, 8, 7]

function print(cells: readonly string[]): void {
  const padded = cells.map((cell, index) => {
    const width = WIDTHS[index] ?? 0
    return width < 0 ? cell.padEnd(-width) : cell.padStart(width)
  })
  process.stdout.write(`${padded.join(' ').trimEnd()}\n`)
}
