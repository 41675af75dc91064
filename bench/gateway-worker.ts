import { spawn } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { loadConfig } from '../src/daemon/config.ts'
import { type Between, serve } from '../src/daemon/serve.ts'
import type { Store } from '../src/stores/store.ts'

/** One measurement in a separate process. */
export interface Task {
  mode: 'L4' | 'gateway' | 'replay' | 'bare-replay' | 'rest'
  /** The data directory of the server, or the output of an agent. */
  data: string
  stream: string
  /** The first output of the agent, which is not measured. */
  warmUp: string
  readers: number
  journal: boolean
  durability: 'power' | 'none'
  /** Events a second; 0 is as many as there can be. */
  rate: number
}

export interface Measured {
  cpuMicros: number
  seconds: number
  bytes: number
  p50: number
  p99: number
  session: string
}

const READER = join(import.meta.dirname, 'gateway-reader-worker.ts')
const AGENT = join(import.meta.dirname, 'gateway-agent.mjs')
const RESTING = 1_000

const task: Task = JSON.parse(process.argv[2] ?? '')
const { mode, data, stream, warmUp, readers } = task
if (mode === 'L4') await loop((line) => JSON.stringify(JSON.parse(line)))
else if (mode === 'bare-replay') await loop((line) => line)
else if (mode === 'rest') await rest()
else await measureServer()

interface Work {
  /** Runs before the measurement, so that hot functions are compiled. */
  warmUp?: (turnEnd: () => Promise<unknown>) => Promise<unknown>
  begin(turnEnd: () => Promise<unknown>): Promise<unknown>
}

/**
 * Starts the readers in a separate process. The work begins when all are connected, and ends when all have reached the
 * end. The readers also report the end of a turn, so that the server is not polled.
 */
async function measured(url: string, work: Work, session = ''): Promise<void> {
  const child = spawn(process.execPath, [READER, url, String(readers)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  if (mode !== 'replay') await lines.next()
  await work.warmUp?.(() => lines.next())
  const cpu = process.cpuUsage()
  const start = performance.now()
  await work.begin(() => lines.next())
  let { value } = await lines.next()
  while (value === 'open' || value === 'turn') ({ value } = await lines.next())
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const { bytes, p50, p99 } = JSON.parse(value ?? '{}')
  tell({ cpuMicros: user + system, seconds, bytes, p50, p99, session })
}

function tell(figures: Partial<Measured>): void {
  const none = { cpuMicros: 0, seconds: 0, bytes: 0, p50: 0, p99: 0, session: '' }
  process.stdout.write(JSON.stringify({ ...none, ...figures }))
}

/** A lower bound: decodes nothing and stores nothing. Sends the same text to every reader. */
async function loop(textOf: (line: string) => string): Promise<void> {
  const responses: ServerResponse[] = []
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    responses.push(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await measured(`http://127.0.0.1:${port}/`, {
    warmUp: async () => warmUp && pump(responses, warmUp, textOf),
    begin: async () => {
      await pump(responses, stream, textOf)
      for (const response of responses) response.end()
    },
  })
  server.close()
}

async function pump(
  responses: readonly ServerResponse[],
  file: string,
  textOf: (line: string) => string,
): Promise<void> {
  let seq = 0
  for await (const lines of linesOf(file)) {
    for (const line of lines) {
      const text = `id: ${++seq}\ndata: ${textOf(line)}\n\n`
      for (const response of responses) response.write(text)
    }
    const full = responses.filter((response) => response.writableNeedDrain)
    await Promise.all(full.map((response) => new Promise((resolve) => response.once('drain', resolve))))
  }
}

async function* linesOf(file: string): AsyncGenerator<string[]> {
  const child = spawn('cat', [file])
  child.stdout.setEncoding('utf8')
  let rest = ''
  for await (const chunk of child.stdout) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
}

async function server() {
  const config = await loadConfig({
    flags: { port: 0, auth: false, data, cwd: tmpdir() },
    environment: {},
    cwd: data,
  })
  const streams = [warmUp, stream].filter((file) => file !== '').join(':')
  const env = { BENCH_STREAM: streams, ...(task.rate > 0 && { BENCH_RATE: String(task.rate) }) }
  const agents = { claude: { command: [process.execPath, AGENT], env } }
  const { durability } = task
  const between: Between = {
    store: (store) => (task.journal ? store : withoutJournal(store)),
    driver: (driver) => driver,
  }
  return serve({ config: { ...config, agents, durability }, report: console.error, between })
}

function withoutJournal(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'append')
        return ((id, { journal: _, ...batch }, fence) => target.append(id, batch, fence)) as Store['append']
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function measureServer(): Promise<void> {
  const running = await server()
  const { url } = running
  const post = async (path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body ?? {}) })
    if (!response.ok) throw new Error(await response.text())
    return response.json() as Promise<Record<string, unknown>>
  }
  if (mode === 'replay') {
    await measured(`${url}/v1/sessions/${stream}/events`, { begin: async () => undefined }, stream)
  } else {
    const id = String((await post('/v1/sessions', { agent: 'claude' })).id)
    const turn = async (turnEnd: () => Promise<unknown>) => {
      await post(`/v1/sessions/${id}/turns`, { prompt: 'go' })
      await turnEnd()
    }
    const begin: Work['begin'] = async (turnEnd) => {
      await turn(turnEnd)
      await post(`/v1/sessions/${id}/end`)
    }
    await measured(`${url}/v1/sessions/${id}/events`, warmUp ? { warmUp: turn, begin } : { begin }, id)
  }
  await running.stop()
}

/** The memory of idle sessions, on a server that has run turns before. */
async function rest(): Promise<void> {
  const running = await server()
  const begin = async () => {
    const headers = { 'content-type': 'application/json' }
    for (let index = 0; index < RESTING; index++) {
      const init = { method: 'POST', headers, body: JSON.stringify({ agent: 'echo', prompt: 'hello' }) }
      await (await fetch(`${running.url}/v1/sessions`, init)).text()
    }
  }
  await begin()
  const before = living()
  await begin()
  tell({ bytes: (living() - before) / RESTING })
  await running.stop()
}

/** Live memory, not resident memory, which a process keeps after its peak. */
function living(): number {
  for (let round = 0; round < 5; round++) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
