import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import type { Run } from '../src/drivers/driver.ts'
import { processDriver } from '../src/drivers/process.ts'
import { least } from './least.ts'

const TURNS = 10
const FIVE_LINES = 'for line in 1 2 3 4 5; do echo "{}"; done'

/**
 * `npm run bench -- ends [idle processes …]`: what the end of a run costs this process on a machine with many other
 * processes, and how long it takes to stop many runs at once.
 */
export async function ends(args: readonly string[]): Promise<void> {
  const counts = args.length > 0 ? args.map(Number) : [0, 500, 1_500]
  for (const idle of counts) {
    const shell = await idleProcesses(idle)
    try {
      await oneShots()
    } finally {
      await endGroup(shell)
    }
  }
  for (const agents of [50, 400]) await stopAll(agents)
}

/** Started by a shell, because a parent pays for each child of its own whenever one of them exits. */
async function idleProcesses(count: number): Promise<ChildProcess> {
  const script = `i=0; while [ $i -lt ${count} ]; do sleep 600 & i=$((i+1)); done; echo ready; exec sleep 600`
  const shell = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  await once(shell.stdout, 'data')
  return shell
}

async function endGroup(shell: ChildProcess): Promise<void> {
  if (shell.pid === undefined) return
  process.kill(-shell.pid, 'SIGKILL')
  await once(shell, 'exit')
}

async function oneShots(): Promise<void> {
  const measured: number[] = []
  const reads = readCalls()
  for (let turn = 0; turn < TURNS; turn++) {
    const from = process.cpuUsage()
    const run = start(['sh', '-c', FIVE_LINES])
    await Promise.all([drain(run), run.exit])
    measured.push(cpuMs(from))
  }
  const each = Math.round((readCalls() - reads) / TURNS)
  report(`one-shot run, ${processCount()} processes: ${least(measured).toFixed(1)} ms CPU, ${each} reads`)
}

async function stopAll(agents: number): Promise<void> {
  const runs = Array.from({ length: agents }, () => start(['sleep', '600']))
  // Measured is the end, not the start of so many processes.
  await setTimeout(1_000)
  const [from, reads, begun] = [process.cpuUsage(), readCalls(), performance.now()]
  await Promise.all(runs.map((run) => run.stop()))
  const seconds = (performance.now() - begun) / 1000
  report(
    `stop of ${agents} runs: ${seconds.toFixed(2)} s, ${cpuMs(from).toFixed(0)} ms CPU, ${readCalls() - reads} reads`,
  )
  await Promise.all(runs.map((run) => run.exit))
}

function start(argv: [string, ...string[]]): Run {
  const values = { open: () => ({ write: () => undefined, close: unused, discard: () => undefined }) }
  const context = { runId: crypto.randomUUID(), cwd: tmpdir(), env: {}, values }
  return processDriver().start({ kind: 'process', argv, env: {}, passEnv: [] }, context)
}

async function unused(): Promise<never> {
  throw new Error('These runs have no large values.')
}

async function drain(run: Run): Promise<void> {
  for await (const _ of run.frames);
}

function cpuMs(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1000
}

/** Calls of `read` that this process made. */
function readCalls(): number {
  return Number(/syscr: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
}

function processCount(): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length
}

function report(line: string): void {
  process.stdout.write(`${line}\n`)
}
