import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { MAIN } from '../built-program.ts'
import { parseEvents, StreamReader } from '../gateway/streams/sse.ts'

const { PATH, NODE_COMPILE_CACHE } = process.env
const CLAUDE = join(import.meta.dirname, 'replay-claude.mjs')
const recording = (name: string) =>
  join(import.meta.dirname, `../../src/agents/claude/fixtures/claude/${name}/stdout.jsonl`)

const started: ServerProcess[] = []
afterEach(async () => {
  for (const { child, exited, home } of started.splice(0)) {
    if (child.exitCode === null) child.kill('SIGTERM')
    await exited
    rmSync(home, { recursive: true })
  }
})

/** A server in a process of its own. */
class ServerProcess {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), 'serve-')))
  readonly lines: string[] = []
  readonly child: ChildProcess
  readonly exited: Promise<unknown[]>
  #stderr = ''
  url = ''

  constructor(config: object, flags: string[]) {
    writeFileSync(join(this.home, 'config.json'), JSON.stringify(config))
    this.child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--cwd', this.home, ...flags], {
      env: { PATH, NODE_COMPILE_CACHE, MAINSTEM_HOME: this.home },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    started.push(this)
    this.exited = once(this.child, 'exit')
    this.child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      this.#stderr += chunk
    })
  }

  get stderr(): string {
    return this.#stderr
  }

  get token(): string {
    return readFileSync(join(this.home, 'token'), 'utf8').trim()
  }

  /** Reads what it prints until it is listening. */
  async listening(lineCount: number): Promise<this> {
    if (!this.child.stdout) throw new Error('stdout is a pipe')
    for await (const line of createInterface(this.child.stdout)) {
      this.lines.push(line)
      if (this.lines.length === lineCount) break
    }
    this.url = /^listening on (http:\/\/127\.0\.0\.1:\d+)$/.exec(this.lines[0] ?? '')?.[1] ?? ''
    expect(this.url, this.stderr).not.toBe('')
    return this
  }

  execute(body: object = {}): Promise<Response> {
    return fetch(`${this.url}/v1/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        idempotency_key: 'k1',
        task: 'list',
        driver: 'claude',
        auth_token: this.token,
        ...body,
      }),
    })
  }

  async ready(): Promise<number> {
    return (await fetch(`${this.url}/readyz`)).status
  }
}

function start(config: object = {}, flags: string[] = []): Promise<ServerProcess> {
  return new ServerProcess(config, flags).listening(flags.includes('--no-auth') ? 1 : 2)
}

const claude = (name: string, ...more: string[]) => ({
  claude: { command: [process.execPath, CLAUDE, recording(name), ...more] },
})

test('a fresh server prints its address and token file, and runs a program', async () => {
  const server = await start({ agents: claude('tool_bash') })
  expect(server.lines[1]).toBe(`token in ${join(server.home, 'token')}`)
  expect(await server.ready()).toBe(200)
  const events = parseEvents(await (await server.execute()).text()).map(({ data }) => data)
  expect(events.map(({ kind, status }) => status ?? kind)).toEqual([
    'agent_token',
    'started',
    'completed',
    'tool_result',
    'agent_token',
    'usage',
    'session_end',
  ])
  expect(events.at(-1)?.exit_code).toBe(0)
  server.child.kill('SIGTERM')
  expect(await server.exited).toEqual([0, null])
  expect(server.stderr).toBe('')
})

test('a missing agent program is reported in the stream', async () => {
  const server = await start({ agents: { claude: { command: ['no-such-program'] } } })
  const events = parseEvents(await (await server.execute()).text()).map(({ data }) => data)
  expect(events.map(({ kind }) => kind)).toEqual(['error', 'session_end'])
  expect(events[0]?.code).toBe('agent_not_found')
  expect(events[1]).toMatchObject({ exit_code: 1, outcome: 'failed' })
})

describe('a server that is stopped', () => {
  const endOf = (stream: string) => parseEvents(stream).at(-1)?.data

  test('stops running turns after a timeout, ends every stream, and exits with 0', async () => {
    const server = await start({ agents: claude('tool_bash', 'hang'), timeouts: { drainMs: 50 } })
    const readers = await Promise.all([server.execute(), server.execute()])
    const streams = readers.map((response) => new StreamReader(response))
    await Promise.all(streams.map((stream) => stream.until('Listing done.')))
    server.child.kill('SIGTERM')
    for (const stream of streams) {
      expect(endOf(await stream.whole())).toMatchObject({
        kind: 'session_end',
        duration_ms: expect.any(Number),
      })
    }
    expect(await server.exited).toEqual([0, null])
  })

  test('drains on SIGQUIT as well', async () => {
    const server = await start({ agents: claude('tool_bash', 'hang'), timeouts: { drainMs: 50 } })
    const stream = new StreamReader(await server.execute())
    await stream.until('Listing done.')
    server.child.kill('SIGQUIT')
    expect(endOf(await stream.whole())).toMatchObject({ kind: 'session_end' })
    expect(await server.exited).toEqual([0, null])
  })

  test('accepts no more work, waits for running turns, and stops waiting on a second signal', async () => {
    const server = await start({ agents: claude('sigterm_text', 'hang'), timeouts: { drainMs: 600_000 } })
    const stream = new StreamReader(await server.execute())
    await stream.until('agent_token')
    server.child.kill('SIGINT')
    while ((await server.ready()) === 200);
    const refused = await server.execute({ idempotency_key: 'k2' })
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'draining' })
    server.child.kill('SIGINT')
    expect(endOf(await stream.whole())).toMatchObject({ exit_code: 130, outcome: 'interrupted' })
    expect(await server.exited).toEqual([0, null])
  })
})

describe('a server does not start', () => {
  test.each([
    [
      'for everybody without a token',
      { hosts: ['a.test'] },
      ['--host', '0.0.0.0', '--no-auth'],
      5,
      'refusing to listen',
    ],
    [
      'with a policy above its own ceiling',
      {
        policy: { approval: 'ask', sandbox: 'none' },
        ceiling: { approval: 'ask', sandbox: 'read-only' },
      },
      [],
      2,
      'policy.sandbox exceeds the ceiling',
    ],
    ['with a root that is not there', { roots: ['/nowhere/at/all'] }, [], 2, 'roots'],
    ['with a project that is not there', { projects: { app: 'nowhere' } }, [], 5, 'projects.app'],
    ['with a project outside its roots', { projects: { app: '/usr' } }, [], 5, 'projects.app'],
    ['to work outside its roots', { roots: ['/usr'] }, [], 5, 'cwd'],
    ['for an agent that does not exist', { agents: { nobody: {} } }, [], 4, 'agents.nobody'],
    ['with a field nobody knows', { prot: 1 }, [], 2, 'prot'],
  ])('%s', async (_, config, flags, code, why) => {
    const server = new ServerProcess(config, flags)
    expect(await server.exited).toEqual([code, null])
    expect(server.stderr).toContain(why)
  })

  test('on a port that is in use', async () => {
    const first = await start()
    const second = new ServerProcess({}, ['--port', new URL(first.url).port])
    expect(await second.exited).toEqual([1, null])
    expect(second.stderr).toContain('is in use (conflict)\nStop the process')
  })
})

test('without authentication it warns, creates no token, and serves', async () => {
  const server = await start({}, ['--no-auth'])
  expect(() => server.token).toThrow(/ENOENT/)
  const response = await fetch(`${server.url}/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ idempotency_key: 'k', task: 'hi', driver: 'echo' }),
  })
  expect(response.status).toBe(200)
  server.child.kill('SIGTERM')
  await server.exited
  expect(server.stderr).toContain('"level":"warn","message":"authentication is disabled')
})
