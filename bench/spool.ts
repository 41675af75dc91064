import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { ProcessLaunch } from '../src/agents/agent.ts'
import { fields, number } from '../src/agents/kit/fields.ts'
import type { Run } from '../src/drivers/driver.ts'
import { processDriver } from '../src/drivers/process.ts'
import { SpoolDriver } from '../src/drivers/spool.ts'
import type { Frame } from '../src/framing/frame.ts'
import type { ValueSink } from '../src/model/text/large-value.ts'
import { median } from './median.ts'

const AGENT = join(import.meta.dirname, 'spool-agent.mjs')
const ECHOES = 2_000
const BURST_LINES = 200_000
const REST_MS = 1_000
const values: ValueSink = {
  open() {
    throw new Error('no value is that large')
  },
}

type Start = (argv: ProcessLaunch['argv']) => Run

/** The figures of one way to reach an agent, in one round. */
interface Figures {
  p50: number
  p99: number
  pacedMicros: number
  burstMicros: number
  sessionKb: number
  shellKb: number
  restMicros: number
}

/**
 * `npm run bench -- spool [rounds] [sessions]`: files instead of pipes, beside pipes, alternating. Latency of a line that
 * answers another, processor time of this process for a line at 1,000 lines a second and in a burst, and memory and idle
 * processor time of this process and its launchers for each agent at rest.
 */
export async function spool([rounds = '3', sessions = '100']: readonly string[]): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'bench-spool-'))
  try {
    const starts = { pipe: piped(), spool: spooled(root) }
    const all: Record<keyof typeof starts, Figures[]> = { pipe: [], spool: [] }
    for (let round = 0; round < Number(rounds); round++) {
      all.pipe.push(await measured(starts.pipe, Number(sessions)))
      all.spool.push(await measured(starts.spool, Number(sessions)))
    }
    for (const [name, figures] of Object.entries(all)) print(name, figures)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function piped(): Start {
  const driver = processDriver()
  let count = 0
  return (argv) =>
    driver.start({ kind: 'process', argv, env: {}, passEnv: [] }, { ...context(`pipe-${count++}`) })
}

function spooled(root: string): Start {
  const driver = new SpoolDriver({ spool: root })
  let count = 0
  return (argv) => {
    const runId = `spool-${count++}`
    driver.prepare(runId, 1)
    const launch: ProcessLaunch = { kind: 'process', argv, env: {}, passEnv: [] }
    return driver.start(launch, { ...context(runId), lasting: { input: 'open' } })
  }
}

const context = (runId: string) => ({ runId, cwd: tmpdir(), env: {}, values })

async function measured(start: Start, sessions: number): Promise<Figures> {
  // First, while this process is small: the memory of a burst is given back late.
  const rest = await atRest(start, sessions)
  const agent = (...args: string[]) => start([process.execPath, AGENT, ...args])
  const delays = await echoes(agent('echo'))
  const at = (share: number) => delays[Math.floor((delays.length - 1) * share)] ?? 0
  const pacedMicros = await microsPerLine(agent('paced', '1000'))
  const burstMicros = await microsPerLine(agent('burst', String(BURST_LINES)))
  return { p50: at(0.5), p99: at(0.99), pacedMicros, burstMicros, ...rest }
}

async function echoes(run: Run): Promise<number[]> {
  const delays: number[] = []
  await read(run, async (frames) => {
    for (const { value } of frames) delays.push(now() - (number(fields({ value }, 'value'), 'at') ?? 0))
    if (delays.length < ECHOES) await run.write({ kind: 'text', text: 'again\n' })
    return delays.length < ECHOES
  })
  return delays.toSorted((a, b) => a - b)
}

async function microsPerLine(run: Run): Promise<number> {
  let lines = 0
  let from = process.cpuUsage()
  let micros = 0
  await read(run, async (frames) => {
    if (lines === 0) from = process.cpuUsage()
    lines += frames.length
    if (!frames.some(({ text }) => text === '{"done":true}')) return true
    const { user, system } = process.cpuUsage(from)
    micros = (user + system) / lines
    return false
  })
  return micros
}

/** Writes the first line, and hands over what comes, until there is enough. */
async function read(run: Run, take: (frames: readonly Frame[]) => Promise<boolean>): Promise<void> {
  await run.write({ kind: 'text', text: 'go\n' })
  for await (const frames of run.frames) if (!(await take(frames))) break
  await run.stop()
}

/** A shell stays with each agent of a spool: its memory counts. The agent, a `sleep` here, is the same for both. */
async function atRest(
  start: Start,
  sessions: number,
): Promise<Pick<Figures, 'sessionKb' | 'shellKb' | 'restMicros'>> {
  const before = rssKb(process.pid)
  const runs = Array.from({ length: sessions }, () => start(['sleep', '600']))
  await setTimeout(REST_MS)
  const from = process.cpuUsage()
  await setTimeout(3 * REST_MS)
  const { user, system } = process.cpuUsage(from)
  const shells = runs.filter(({ lasting }) => lasting).reduce((sum, { pid }) => sum + privateKb(pid), 0)
  const sessionKb = (rssKb(process.pid) - before) / sessions
  await Promise.all(runs.map((run) => run.stop()))
  return { sessionKb, shellKb: shells / sessions, restMicros: (user + system) / 3 / sessions }
}

function rssKb(pid: number): number {
  return field(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS')
}

/** What the process alone uses, without the pages that all of its kind share. */
function privateKb(pid: number | undefined): number {
  if (pid === undefined) return 0
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return field(rollup, 'Private_Dirty') + field(rollup, 'Private_Clean')
}

function field(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
}

const now = () => performance.timeOrigin + performance.now()

function print(name: string, figures: readonly Figures[]): void {
  const of = (key: keyof Figures) => median(figures.map((one) => one[key]))
  process.stdout.write(
    [
      name.padEnd(6),
      `p50 ${of('p50').toFixed(2)} ms, p99 ${of('p99').toFixed(2)} ms`,
      `${of('pacedMicros').toFixed(0)} µs a line at 1,000 a second`,
      `${of('burstMicros').toFixed(1)} µs in a burst`,
      `${of('sessionKb').toFixed(0)} kB, ${of('shellKb').toFixed(0)} kB of its shell and ${of('restMicros').toFixed(0)} µs a second for each agent at rest`,
    ].join(' · '),
  )
  process.stdout.write('\n')
}
