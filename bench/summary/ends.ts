import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { least } from '../least.ts'
import type { Row } from './row.ts'
import { Server } from './server.ts'

const TURNS = 10
const IDLE = [0, 500, 1_500]
const AGENTS = [50, 400]
const SETTLE_MS = 1_000
/** Processes that start at the same time. */
const AT_ONCE = 16

/** A turn of a one-shot agent that prints five lines, beside other processes of the machine; the stop of many agents. */
export async function ends(checkout: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const idle of IDLE) {
    const shell = await idleProcesses(idle)
    try {
      const name = `one-shot turn beside ${Math.round(processes() / 10) * 10} processes`
      rows.push({ what: `${name}: processor of the server, ms`, value: await oneShot(checkout) })
    } finally {
      await endGroup(shell)
    }
  }
  for (const agents of AGENTS) rows.push(...(await stopAll(checkout, agents)))
  return rows
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

async function oneShot(checkout: string): Promise<number> {
  await using server = await Server.start(checkout)
  const measured: number[] = []
  for (let turn = 0; turn < TURNS; turn++) {
    const before = server.used().ms
    const path = await server.session({ agent: 'codex', launch: 'oneshot', prompt: 'go' })
    while ((await server.call('GET', path)).status !== 'idle') await setTimeout(50)
    await setTimeout(SETTLE_MS / 4)
    measured.push(server.used().ms - before)
  }
  return least(measured)
}

async function stopAll(checkout: string, agents: number): Promise<Row[]> {
  await using server = await Server.start(checkout)
  const start = async () => {
    const path = await server.session({ agent: 'claude', launch: 'live', prompt: 'go' })
    while ((await server.call('GET', path)).status !== 'idle') await setTimeout(20)
  }
  for (let first = 0; first < agents; first += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, agents - first) }, start))
  await setTimeout(SETTLE_MS)
  return [{ what: `SIGTERM with ${agents} idle agents, s`, value: await server.stop() }]
}

function processes(): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length
}
