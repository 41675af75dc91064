import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { MainstemClient } from '../../src/client/index.ts'
import { RpcResponse } from '../../src/gateway/rpc/envelope.ts'
import { MAIN } from '../built-program.ts'
import { StreamReader } from '../gateway/streams/sse.ts'

const ROOT = join(import.meta.dirname, '../..')
const AGENT = join(ROOT, 'test/fake-agents/paused-claude.mjs')

/** As short as a lease can be, so that it would end while the server is suspended. */
const LEASE_MS = 2_000
/** Long enough for every limit of the server to notice it. */
const SUSPENDED_MS = 6_000

const home = realpathSync(mkdtempSync(join(tmpdir(), 'suspended-')))
const signal = join(home, 'signal', 'go')
let child: ChildProcess
let url = ''
let client: MainstemClient

beforeAll(async () => {
  mkdirSync(join(home, 'signal'))
  const config = {
    agents: { claude: { command: [process.execPath, AGENT, signal] } },
    policy: { approval: 'auto-all', sandbox: 'full-access' },
    node: { leaseMs: LEASE_MS },
    timeouts: { drainMs: 1 },
  }
  writeFileSync(join(home, 'config.json'), JSON.stringify(config))
  const { PATH, NODE_COMPILE_CACHE } = process.env
  child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--no-auth', '--cwd', home], {
    env: { PATH, NODE_COMPILE_CACHE, HOME: home, MAINSTEM_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    url = /^listening on (\S+)$/.exec(line)?.[1] ?? ''
    if (url !== '') break
  }
  client = new MainstemClient({ baseUrl: url })
})

afterAll(async () => {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
  rmSync(home, { recursive: true })
})

/** Reads until the text before the pause has arrived; returns what reads on to the end. */
type Face = () => Promise<() => Promise<string>>

const post = (path: string, body: object) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function reading(response: Response, end: string) {
  expect(response.status).toBe(200)
  const reader = new StreamReader(response)
  await reader.until('before')
  return async () => {
    await reader.until(end)
    return reader.text
  }
}

const newSession = async () => (await client.begin({ agent: 'claude', prompt: 'go' })).id

async function socket(path: string, end: string) {
  const opened = new WebSocket(url.replace('http', 'ws') + path)
  let [text, arrived] = ['', Promise.withResolvers<void>()]
  const wake = () => {
    arrived.resolve()
    arrived = Promise.withResolvers()
  }
  opened.on('message', (data) => {
    text += `${data}\n`
    wake()
  })
  opened.on('close', wake)
  const until = async (wanted: string) => {
    while (!text.includes(wanted)) {
      if (opened.readyState === WebSocket.CLOSED) throw new Error(`closed without ${wanted}: ${text}`)
      await arrived.promise
    }
  }
  await until('before')
  return async () => {
    await until(end)
    opened.close()
    return text
  }
}

const AFTER = 'after, still as'
const TURN_END = '"turn.completed"'
const stream = async (accept: string) =>
  reading(await fetch(`${url}/v1/sessions/${await newSession()}/events`, { headers: { accept } }), TURN_END)

const faces: Readonly<Record<string, Face>> = {
  'server-sent events': () => stream('text/event-stream'),
  lines: () => stream('application/x-ndjson'),
  'a WebSocket': async () => socket(`/v1/sessions/${await newSession()}/events`, TURN_END),
  'the WebSocket of the board': async () => socket(`/ws/sessions/${await newSession()}`, AFTER),
  'the WebSocket of unified': async () => socket(`/ws/sessions/${await newSession()}?dialect=unified`, AFTER),
  async 'a request that waits for the next page'() {
    const id = await newSession()
    let [text, next] = ['', '0']
    const until = async (wanted: string) => {
      while (!text.includes(wanted)) {
        const response = await fetch(`${url}/v1/sessions/${id}/events?after=${next}&wait=60`)
        const page: { entries: unknown[]; next: string } = JSON.parse(await response.text())
        text += JSON.stringify(page.entries)
        next = page.next
      }
      return text
    }
    await until('before')
    return () => until(TURN_END)
  },
  execute: async () =>
    reading(
      await post('/v1/execute', { idempotency_key: 'k1', task: 'go', driver: 'claude' }),
      '"session_end"',
    ),
  async 'the daemon protocol'() {
    const create = { method: 'session.create', params: { path: home, cli_type: 'claude' } }
    const { result } = RpcResponse.parse(await (await post('/rpc', create)).json())
    const params = { ...Object(result), message: 'go' }
    return reading(await post('/rpc', { method: 'session.send', params }), '[DONE]')
  },
}

test('a suspended server keeps every turn, and every reader gets the rest of it', async () => {
  const rests = await Promise.all(Object.values(faces).map((face) => face()))
  const { sessions: before } = await client.sessions()
  expect(before.length).toBe(rests.length)
  expect(before.map(({ openTurn }) => openTurn)).toEqual(before.map(() => 1))
  child.kill('SIGSTOP')
  // Only real time makes it a suspension.
  await sleep(SUSPENDED_MS)
  child.kill('SIGCONT')
  writeFileSync(signal, '')
  const texts = await Promise.all(rests.map((rest) => rest()))
  const pids = texts.map((text) => /after, still as (\d+)/.exec(text)?.[1])
  expect(new Set(pids).size, 'one process for each turn, the one it began with').toBe(texts.length)
  for (const [index, name] of Object.keys(faces).entries())
    expect(texts[index], name).not.toMatch(/"lost"|node_lost|timeout|agent_silent|exit_forced/)
  for (const { id } of before) {
    const entries = JSON.stringify((await client.page(id)).entries)
    expect(entries.match(/"turn\.completed"[^}]*?"outcome":"\w+"/g)).toHaveLength(1)
    expect(entries).toContain('"outcome":"completed"')
  }
})
