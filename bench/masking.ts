import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

const SERVER = join(import.meta.dirname, '../src/cli/main.ts')
const AGENT = join(import.meta.dirname, 'masking-agent.mjs')
const LIMIT_MS = 100
const SECRETS = 20
const POLL_MS = 5

/** `npm run bench -- masking [megabytes]`: how fast `/healthz` answers while a line full of secrets flows. */
export async function masking([megabytes = '100']: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  const config = join(folder, 'config.json')
  const tokens = Array.from({ length: SECRETS }, (_, index) => [
    `BENCH_${index}_TOKEN`,
    `sk-bench-${index}-${'0123456789abcdef'.repeat(2)}`,
  ])
  const env = { ...Object.fromEntries(tokens), BENCH_BYTES: String(Number(megabytes) * 1_000_000) }
  writeFileSync(config, JSON.stringify({ agents: { claude: { command: [process.execPath, AGENT], env } } }))
  const args = [SERVER, 'serve', '--port', '0', '--no-auth', '--data', folder, '--config', config]
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: folder })
  try {
    const [line] = await once(createInterface(server.stdout), 'line')
    const url = /http:\/\/[^\s/]+/.exec(String(line))?.[0]
    if (url === undefined) throw new Error(`no address in: ${line}`)
    await measure(url, folder, Number(megabytes))
  } finally {
    server.kill('SIGTERM')
    await once(server, 'exit')
    rmSync(folder, { recursive: true, maxRetries: 3 })
  }
}

async function measure(url: string, cwd: string, megabytes: number): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ agent: 'claude', launch: 'live', cwd, prompt: 'go' })
  const response = await fetch(`${url}/v1/sessions`, { method: 'POST', headers, body })
  const { id } = (await response.json()) as { id: string }
  const begun = performance.now()
  const times: number[] = []
  for (let status = 'running'; status === 'running'; await setTimeout(POLL_MS)) {
    const asked = performance.now()
    await (await fetch(`${url}/healthz`)).arrayBuffer()
    times.push(performance.now() - asked)
    const record = await (await fetch(`${url}/v1/sessions/${id}`)).json()
    status = (record as { openTurn?: number }).openTurn === undefined ? 'over' : 'running'
  }
  const seconds = (performance.now() - begun) / 1000
  times.sort((a, b) => a - b)
  const at = (share: number) => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(1)
  const rate = (megabytes / seconds).toFixed(0)
  process.stdout.write(
    `one line of ${megabytes} MB with ${SECRETS} secrets: ${seconds.toFixed(1)} s, ${rate} MB/s\n`,
  )
  process.stdout.write(
    `/healthz, ${times.length} calls: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms\n`,
  )
  if (Number(at(0.99)) <= LIMIT_MS) return
  process.stderr.write(`p99 is above ${LIMIT_MS} ms\n`)
  process.exitCode = 1
}
