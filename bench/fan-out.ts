import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** In clock ticks of Linux, of which a second has a hundred. */
const TICK_MS = 10

/**
 * `npm run bench -- fan-out [readers] [events a second]`: the delay from an agent to the subscribers of one session, and
 * the processor time of the server, over server-sent events and over WebSocket.
 */
export async function fanOut([readers = '1000', rate = '100']: readonly string[]): Promise<void> {
  for (const transport of ['sse', 'socket']) {
    const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
    try {
      const { p50, p99, messages, cpuMs } = await measured(folder, transport, readers, rate)
      const micros = (cpuMs * 1000) / messages
      process.stdout.write(
        `${transport.padEnd(6)} ${readers} readers, ${rate} events/s: p50 ${p50.toFixed(1)} ms, ` +
          `p99 ${p99.toFixed(1)} ms, ${micros.toFixed(2)} µs of the server a message\n`,
      )
    } finally {
      rmSync(folder, { recursive: true, maxRetries: 3 })
    }
  }
}

interface FanOut {
  p50: number
  p99: number
  messages: number
  cpuMs: number
}

async function measured(folder: string, transport: string, readers: string, rate: string): Promise<FanOut> {
  mkdirSync(join(folder, 'log'))
  const server = spawn(process.execPath, [join(import.meta.dirname, 'readers-worker.ts'), folder, ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_RATE: rate },
  })
  try {
    const [url] = await once(createInterface(server.stdout), 'line')
    const id = String((await post(`${url}/v1/sessions`, { agent: 'claude' })).id)
    const args = [join(import.meta.dirname, 'fan-out-worker.ts'), `${url}/v1/sessions/${id}/events`]
    const child = spawn(process.execPath, [...args, transport, readers], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    await lines.next()
    const before = cpuMs(server.pid)
    await post(`${url}/v1/sessions/${id}/turns`, { prompt: 'go' })
    const found: Omit<FanOut, 'cpuMs'> = JSON.parse((await lines.next()).value ?? '{}')
    return { ...found, cpuMs: cpuMs(server.pid) - before }
  } finally {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
}

function cpuMs(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

async function post(url: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return JSON.parse(await response.text())
}
