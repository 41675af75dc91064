import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { wire } from '../src/compose/wire.ts'
import { DEFAULT_POLICY } from '../src/model/index.ts'
import { postgresStore } from '../src/stores/postgres.ts'
import { sqliteStore } from '../src/stores/sqlite.ts'
import type { Store } from '../src/stores/store.ts'

/** One measurement in a separate process: sessions whose agents say a stream, as fast as they can or in time. */
export interface Task {
  /** `loop` parses each line and keeps nothing; otherwise a directory, or a URL of PostgreSQL. */
  store: string
  /** What each agent says; the first turn is not measured. */
  streams: readonly [warmUp: string, measured: string]
  sessions: number
  /** Lines a second of each agent; 0 is as many as there can be. */
  rate: number
}

export interface Measured {
  lines: number
  cpuMicros: number
  seconds: number
  rssMb: number
  /** Milliseconds from a line to its reader. */
  p50: number
  p99: number
}

const AGENT = join(import.meta.dirname, 'session-agent.mjs')
const SETTLE_MS = 500

const task: Task = JSON.parse(process.argv[2] ?? '')
const command = [process.execPath, AGENT]
const env = { BENCH_STREAM: task.streams.join(':'), BENCH_RATE: String(task.rate) }

const delays: number[] = []
if (task.store === 'loop') await loop()
else await sessions(await open())

async function open(): Promise<Store> {
  if (task.store.startsWith('postgres:')) return postgresStore({ url: task.store })
  return sqliteStore({ directory: task.store, durability: 'power' })
}

/** A lower bound: reads the same lines of the same agents, parses them, and drops them. */
async function loop(): Promise<void> {
  const [program = '', ...args] = command
  const children = Array.from({ length: task.sessions }, () =>
    spawn(program, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  const readers = children.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]())
  const turn = async () => {
    const counts = children.map(async (child, index) => {
      child.stdin.write(`${JSON.stringify({ type: 'user' })}\n`)
      for (let lines = 1; ; lines++) {
        const { value } = (await readers[index]?.next()) ?? {}
        if (JSON.parse(value ?? '{}').type === 'result') return lines
      }
    })
    return (await Promise.all(counts)).reduce((sum, lines) => sum + lines, 0)
  }
  await turn()
  await measure(turn)
  for (const child of children) child.kill()
}

async function sessions(store: Store): Promise<void> {
  await using wired = wire({
    store,
    settings: { claude: { command, env } },
    maxProcesses: task.sessions,
    journal: true,
  })
  const all = await Promise.all(
    Array.from({ length: task.sessions }, async () => {
      const request = {
        agent: 'claude',
        launch: 'live',
        cwd: tmpdir(),
        policy: DEFAULT_POLICY,
        options: {},
      } as const
      return wired.sessions.create({ ...request, principal: 'local' })
    }),
  )
  const heads = new Map<string, number>()
  const turn = async () => {
    await Promise.all(
      all.map(async (session) => {
        const { id } = session
        await session.prompt('go')
        const left = new AbortController()
        for await (const entries of wired.sessions.follow(id, heads.get(id) ?? 0, left.signal)) {
          const now = performance.timeOrigin + performance.now()
          for (const { event } of entries) if (event.type === 'text.delta') addDelay(event.text, now)
          heads.set(id, entries.at(-1)?.seq ?? 0)
          if (entries.some(({ event }) => event.type === 'turn.completed')) left.abort()
        }
      }),
    )
    const records = await Promise.all(all.map(({ id }) => wired.sessions.record(id)))
    return records.reduce((sum, record) => sum + (record?.coverage?.frames ?? 0), 0)
  }
  const before = await turn()
  delays.length = 0
  await measure(async () => (await turn()) - before)
}

function addDelay(text: string, now: number): void {
  const [, at] = /^@([\d.]+) /.exec(text) ?? []
  if (at !== undefined) delays.push(now - Number(at))
}

async function measure(work: () => Promise<number>): Promise<void> {
  // What the warm-up left behind is not measured.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const cpu = process.cpuUsage()
  const start = performance.now()
  const lines = await work()
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const sorted = delays.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? 0
  const rssMb = process.memoryUsage().rss / 1024 / 1024
  const result: Measured = { lines, cpuMicros: user + system, seconds, rssMb, p50: at(0.5), p99: at(0.99) }
  process.stdout.write(JSON.stringify(result))
}
