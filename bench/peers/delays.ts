import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { mainstem } from '../../src/library/mainstem.ts'
import { median } from '../median.ts'
import {
  addressOf,
  executable,
  freePort,
  post,
  readLines,
  started,
  stream,
  untilListening,
} from './programs.ts'

const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'dist/cli/main.js')
const RATE = 20
const SECONDS = 5
const CLAUDE = ['perl', join(import.meta.dirname, '../summary/agent.pl'), String(RATE), String(SECONDS)]
const ACP = ['perl', join(import.meta.dirname, 'acp-agent.pl'), String(RATE), String(SECONDS)]
/** Pieces of text until everything has run once. */
const WARM_UP = 10

export interface Delay {
  name: string
  p50: number
  p99: number
}

/** Where a package is installed, by its name. */
type Folders = ReadonlyMap<string, string>

/** Calls back with what was received, piece by piece or in lines. Settles at the end of the turn. */
type Way = (folder: string, take: (text: string) => void, folders: Folders) => Promise<void>

/**
 * How long a piece of text takes from the agent that wrote it to the program or the person that reads it, through
 * Mainstem and through other packages, one way after another.
 */
export async function delays(folders: Folders): Promise<Delay[]> {
  const found: Delay[] = []
  for (const [name, way] of Object.entries(WAYS)) {
    const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
    // By the time at which it was written: most ways repeat the text at the end.
    const all = new Map<string, number>()
    const take = (text: string) => {
      const arrived = performance.timeOrigin + performance.now()
      for (const [, said = ''] of text.matchAll(/@(\d+\.\d+) x/g))
        if (!all.has(said)) all.set(said, arrived - Number(said))
    }
    try {
      await way(folder, take, folders)
    } finally {
      rmSync(folder, { recursive: true, maxRetries: 3 })
    }
    if (all.size < RATE * SECONDS) throw new Error(`${name}: only ${all.size} pieces of text arrived`)
    const warm = [...all.values()].slice(WARM_UP).toSorted((a, b) => a - b)
    found.push({ name, p50: median(warm), p99: warm[Math.floor(warm.length * 0.99)] ?? 0 })
  }
  return found
}

const WAYS: Readonly<Record<string, Way>> = {
  'a loop over the lines of the agent': async (folder, take) => {
    using child = started(ACP[0] ?? '', ACP.slice(1), folder, 'pipe')
    child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"session/prompt"}\n')
    await readLines(child.stdout, take, '"stopReason"')
  },
  'library, logs in memory': (_, take) => library({}, take),
  '`claude-agent-sdk`': (folder, take, folders) => claudeSdk(folder, take, folders),
  'library, logs on disk': (folder, take) => library({ data: join(folder, 'data') }, take),
  '`mainstem serve`, server-sent events, on disk': (folder, take) => served(folder, take),
  '`sandbox-agent server`, server-sent events': (folder, take, folders) =>
    sandboxAgent(folder, take, folders),
  '`mainstem run --json`, on disk': async (folder, take) => {
    const place = placed(folder)
    using child = started(process.execPath, [MAIN, 'run', 'acp', 'go', '--json', ...place], folder)
    await readLines(child.stdout, take)
    using stopping = started(
      process.execPath,
      [MAIN, 'daemon', 'stop', '--data', join(folder, 'data')],
      folder,
    )
    await once(stopping, 'exit')
  },
  '`acpx exec --format json`': async (folder, take, folders) => {
    const acpx = join(folders.get('acpx') ?? '', 'node_modules/acpx/dist/cli.js')
    const args = ['--agent', ACP.join(' '), '--cwd', folder, '--format', 'json', 'exec', 'go']
    using child = started(process.execPath, [acpx, ...args], folder)
    await readLines(child.stdout, take)
  },
}

async function library({ data }: { data?: string }, take: (text: string) => void): Promise<void> {
  const built: { mainstem: typeof mainstem } = await import(pathToFileURL(join(ROOT, 'dist/index.js')).href)
  const agents = { claude: { command: CLAUDE } }
  await using stem = built.mainstem({ agents, ...(data !== undefined && { data }) })
  await using session = await stem.session({ agent: 'claude', launch: 'live', cwd: tmpdir() })
  await session.prompt('first').result()
  for await (const { event } of session.prompt('go')) if (event.type === 'text.delta') take(event.text)
}

interface ClaudeSdk {
  query(request: { prompt: AsyncIterable<object>; options: object }): AsyncIterable<{ type: string }>
}

async function claudeSdk(folder: string, take: (text: string) => void, folders: Folders): Promise<void> {
  const path = 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs'
  const { query }: ClaudeSdk = await import(
    pathToFileURL(join(folders.get('@anthropic-ai/claude-agent-sdk') ?? '', path)).href
  )
  const program = executable(join(folder, 'claude'), CLAUDE)
  let answered = Promise.withResolvers<void>()
  const prompt = async function* () {
    for (const content of ['first', 'go']) {
      yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null }
      await answered.promise
      answered = Promise.withResolvers()
    }
  }
  const env = { PATH: process.env.PATH, HOME: folder }
  const options = { pathToClaudeCodeExecutable: program, includePartialMessages: true, cwd: folder, env }
  for await (const message of query({ prompt: prompt(), options })) {
    if (message.type === 'result') answered.resolve()
    else take(JSON.stringify(message))
  }
}

async function served(folder: string, take: (text: string) => void): Promise<void> {
  const args = ['serve', '--port', '0', '--no-auth', ...placed(folder)]
  using server = started(process.execPath, [MAIN, ...args], folder)
  const url = await addressOf(server)
  const { id } = await post(`${url}/v1/sessions`, { agent: 'acp', cwd: folder })
  const events = await stream(`${url}/v1/sessions/${id}/events`)
  await post(`${url}/v1/sessions/${id}/turns`, { prompt: 'go' })
  await readLines(events, take, '"turn.completed"')
}

/** Its server looks for the programs of agents in a folder of the home directory. */
async function sandboxAgent(folder: string, take: (text: string) => void, folders: Folders): Promise<void> {
  const path = `node_modules/@sandbox-agent/cli-${process.platform}-${process.arch}/bin/sandbox-agent`
  const program = join(folder, 'sandbox-agent')
  cpSync(join(folders.get('sandbox-agent') ?? '', path), program)
  chmodSync(program, 0o755)
  const programs = join(folder, '.local/share/sandbox-agent/bin')
  mkdirSync(join(programs, 'agent_processes'), { recursive: true })
  for (const name of ['claude', 'agent_processes/claude-acp']) executable(join(programs, name), ACP)
  const port = await freePort()
  using server = started(program, ['server', '--no-token', '--no-telemetry', '--port', `${port}`], folder)
  const url = `http://127.0.0.1:${port}/v1/acp/bench`
  await untilListening(server, url)
  const call = (id: number, method: string, params: object) =>
    post(`${url}?agent=claude`, { jsonrpc: '2.0', id, method, params })
  await call(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
  await call(2, 'session/new', { cwd: folder, mcpServers: [] })
  const events = await stream(url)
  const ended = call(3, 'session/prompt', { sessionId: 's', prompt: [{ type: 'text', text: 'go' }] })
  await readLines(events, take, '"stopReason"')
  await ended
}

/** The options of a server that keeps everything in `folder`. */
function placed(folder: string): string[] {
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify({ agents: { acp: { command: ACP } } }))
  return ['--config', config, '--data', join(folder, 'data')]
}
