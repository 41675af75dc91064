import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './median.ts'
import type { Measured, Task } from './store-worker.ts'

const ROUNDS = 3
const WORKER = join(import.meta.dirname, 'store-worker.ts')

interface Case {
  name: string
  /** The loop that it is set against. */
  beside: 'write' | 'parse'
  filled: boolean
  task: Partial<Task>
}

const BURST = { mode: 'append', sessions: 1, batch: 256, events: 128_000 } as const
const MANY = { mode: 'append', sessions: 500, batch: 1, events: 30_000 } as const
const PACED = { mode: 'paced', sessions: 500, batch: 1, events: 30_000 } as const

const appends = (name: string, task: Partial<Task>): Case[] =>
  [false, true].flatMap((filled) => [
    { name, beside: 'write', filled, task },
    { name: `${name}, journal`, beside: 'write', filled, task: { ...task, journal: true } },
    {
      name: `${name}, durability process`,
      beside: 'write',
      filled,
      task: { ...task, durability: 'process' },
    },
  ])

const CASES: readonly Case[] = [
  ...appends('1 session, 256 a batch', BURST),
  ...appends('500 sessions, 1 a batch', MANY),
  { name: '500 sessions × 20 a second', beside: 'write', filled: true, task: PACED },
  {
    name: '500 sessions × 20 a second, journal',
    beside: 'write',
    filled: true,
    task: { ...PACED, journal: true },
  },
  { name: 'replay, 1 session', beside: 'parse', filled: true, task: { mode: 'replay', sessions: 1 } },
  { name: 'replay, 500 sessions', beside: 'parse', filled: true, task: { mode: 'replay', sessions: 500 } },
]

/**
 * CPU time an event through the store, beside a loop that only writes (or parses) the same JSON. Each measurement
 * is a separate process; loop and store alternate, so that noise affects both.
 */
export async function store(only: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    const filled = join(folder, 'filled')
    work(filled, { ...MANY, batch: 2, events: 300_000, durability: 'process' })
    process.stdout.write(`${HEADER.map(([title, width]) => pad(title, width)).join(' ')}\n`)
    for (const one of CASES) {
      if (only.length === 0 || only.some((word) => one.name.includes(word))) measure(folder, filled, one)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const HEADER: readonly (readonly [title: string, width: number])[] = [
  ['what', -46],
  ['store', -7],
  ['bare µs', 8],
  ['µs', 8],
  ['ratio', 7],
  ['events/s', 9],
  ['ack p50/p99 ms', 16],
  ['loop p50/p99 ms', 16],
]

function measure(folder: string, filled: string, { name, beside, filled: isFilled, task }: Case): void {
  const bare: Measured[] = []
  const ours: Measured[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const fresh = mkdtempSync(join(folder, 'empty-'))
    const loop = work(fresh, { ...BURST, mode: 'write' })
    bare.push(beside === 'write' ? loop : work(fresh, { ...BURST, mode: beside }))
    ours.push(work(isFilled ? filled : join(fresh, 'store'), task))
    rmSync(fresh, { recursive: true })
  }
  const [baseline, cpu] = [median(bare.map(cpuOf)), median(ours.map(cpuOf))]
  const delays = (of: (one: Measured) => number[]) =>
    [0, 1].map((index) => median(ours.map((one) => of(one)[index] ?? 0)).toFixed(1)).join(' / ')
  const cells = [
    name,
    isFilled ? 'filled' : 'empty',
    baseline.toFixed(2),
    cpu.toFixed(2),
    (cpu / baseline).toFixed(2),
    String(Math.round(median(ours.map(({ events, seconds }) => events / seconds)))),
    task.mode === 'paced' ? delays(({ ack }) => ack) : '',
    task.mode === 'paced' ? delays(({ loop }) => loop) : '',
  ]
  process.stdout.write(`${cells.map((cell, index) => pad(cell, HEADER[index]?.[1] ?? 0)).join(' ')}\n`)
}

function work(directory: string, task: Partial<Task>): Measured {
  const whole = { durability: 'power', journal: false, batch: 1, events: 0, ...task, directory }
  return JSON.parse(execFileSync(process.execPath, [WORKER, JSON.stringify(whole)], { encoding: 'utf8' }))
}

function cpuOf({ cpuMicros, events }: Measured): number {
  return cpuMicros / events
}

/** To the left where the width is negative. */
function pad(cell: string, width: number): string {
  return width < 0 ? cell.padEnd(-width) : cell.padStart(width)
}
