import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import {
  AgentClient,
  AgentError,
  AgentType,
  FallbackTransport,
  MainstemClient,
  type Timers,
} from '../../src/client/index.ts'
import { type StdioOptions, StdioTransport, selectTransport } from '../../src/client/stdio/index.ts'
import { passCalls } from '../../src/daemon/stdio.ts'
import { MAIN } from '../built-program.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, type TestGateway, TOKEN } from '../gateway/start.ts'
import { collect, quick, StdioScene } from './scene.ts'

vi.setConfig({ testTimeout: 180_000 })

/** The command as a user starts it, with a server of its own and an empty home. */
function ownServer() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')))
  const transport = new StdioTransport({
    command: process.execPath,
    args: [MAIN, 'stdio', '--data', join(home, 'data'), '--cwd', home],
    env: { MAINSTEM_HOME: home },
  })
  return {
    transport,
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]()
      rmSync(home, { recursive: true })
    },
  }
}

/** One side of a pipe to a server, line by line. */
async function talk(server: TestGateway, ...said: readonly string[]): Promise<object[]> {
  const input = new PassThrough()
  const output = new PassThrough()
  const passed = passCalls({ input, output, url: server.url, token: TOKEN })
  for (const line of said) input.write(`${line}\n`)
  const heard: object[] = []
  let rest = ''
  while (heard.length <= said.length) {
    rest += String(output.read() ?? (await new Promise((resolve) => output.once('data', resolve))))
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    heard.push(...lines.map((line) => JSON.parse(line)))
  }
  input.end()
  await passed
  expect(heard.shift()).toEqual({ protocol: 'mainstem-stdio', version: 1 })
  return heard
}

describe('mainstem stdio', () => {
  it('runs its own server, whose log outlives it', async () => {
    await using own = ownServer()
    const client = new AgentClient({ agentType: 'echo', transport: own.transport, timers: quick })
    const session = await client.createSession({ prompt: 'hello' })
    const events = await collect(session.events)
    expect(events.map(({ type }) => type)).toContain('textChunk')
    expect(events.at(-1)).toMatchObject({ type: 'sessionEnded', reason: 'completed' })
    await own.transport[Symbol.asyncDispose]()
    const again = await collect(client.session(session.id).events)
    expect(again).toEqual(events)
  })

  it('passes the calls of both clients to a server that runs', async () => {
    await using server = await startGateway()
    await using scene = new StdioScene(server)
    const mainstem = new MainstemClient({ fetch: scene.transport.fetch })
    const { id } = await mainstem.begin({ agent: 'puppet', prompt: script(text('a', 'one'), success) })
    for await (const { event } of mainstem.entries(id)) if (event.type === 'turn.completed') break
    const client = new AgentClient({ agentType: 'puppet', transport: scene.transport })
    expect(await client.list()).toEqual([expect.objectContaining({ id, state: 'done' })])
    await mainstem.delete(id)
    await expect(client.cancel(id)).rejects.toMatchObject({ type: 'sessionNotFound' })
  })

  it('is restarted after a kill, and the reader resumes where it was', async () => {
    await using server = await startGateway()
    await using scene = new StdioScene(server)
    const client = new AgentClient({ agentType: 'puppet', transport: scene.transport, timers: quick })
    const words = ['one', 'two']
    const session = await client.createSession({
      prompt: script(...words.map((word) => ({ ...text(word, word), wait: true })), success),
    })
    const heard: string[] = []
    void server.gate.open()
    for await (const event of session.events) {
      if (event.type !== 'textChunk') continue
      heard.push(event.content)
      process.kill(scene.pids.at(-1) ?? 0, 'SIGKILL')
      void server.gate.open()
    }
    expect(heard).toEqual(words)
    expect(scene.pids.length).toBeGreaterThanOrEqual(words.length)
  })

  it.each([
    ['no command is given', (own: StdioOptions) => new StdioTransport(own)],
    ['a transport is selected for codex', (own: StdioOptions) => selectTransport(AgentType.codex, own)],
    [
      'the document starts codex',
      ({ env = {} }: StdioOptions) =>
        new StdioTransport({ command: 'codex', args: ['exec', '--output-jsonl'], env }),
    ],
  ])('of this package is started where %s, whatever is on the PATH', async (_, select) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')))
    const transport = select({
      args: ['stdio', '--data', join(home, 'data'), '--cwd', home],
      env: { MAINSTEM_HOME: home, PATH: '/nowhere' },
    })
    if (!(transport instanceof StdioTransport)) throw new Error('it is a process')
    const client = new AgentClient({ agentType: 'echo', transport })
    const session = await client.createSession({ prompt: 'hello' })
    expect((await collect(session.events)).at(-1)).toMatchObject({ reason: 'completed' })
    await transport[Symbol.asyncDispose]()
    rmSync(home, { recursive: true })
  })

  it.each([
    ['Claude', () => selectTransport(AgentType.claude)],
    ['a baseUrl', () => selectTransport(AgentType.codex, { baseUrl: 'http://127.0.0.1:1' })],
  ])('is not what is selected for %s', (_, select) => {
    expect(select()).toBeInstanceOf(FallbackTransport)
  })

  it('that cannot be started is a connection that failed', async () => {
    const transport = new StdioTransport({ command: '/nowhere/mainstem' })
    await expect(transport.list()).rejects.toMatchObject({
      code: 'connection_failed',
      message: '/nowhere/mainstem stdio: spawn /nowhere/mainstem ENOENT',
    })
  })
})

/** A program that is not ours, keeps what it is sent, and writes these lines first. */
function foreign(...lines: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'foreign-'))
  const kept = join(directory, 'kept')
  writeFileSync(kept, '')
  const script = `for line in "$@"; do echo "$line"; done; exec cat > ${kept}`
  const options = { command: 'sh', args: ['-c', script, 'codex', ...lines] }
  return {
    options,
    received: () => readFileSync(kept, 'utf8'),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}

describe('a program that is not `mainstem stdio`', () => {
  /** The wait for a greeting is over as soon as it begins. */
  const impatient: Timers = { sleep: async () => undefined }

  it.each([
    ['writes lines of another protocol', ['{"type":"thread.started","thread_id":"sess_1"}'], {}],
    ['writes lines of a later version', ['{"protocol":"mainstem-stdio","version":2}'], {}],
    ['writes nothing', [], { timers: impatient }],
  ])('and %s is refused, and is sent nothing', async (_, lines, more) => {
    using program = foreign(...lines)
    const transport = new StdioTransport({ ...program.options, ...more })
    const client = new AgentClient({ agentType: AgentType.codex, transport })
    const failed = await client.createSession({ prompt: 'Refactor' }).catch((thrown: unknown) => thrown)
    expect(failed).toBeInstanceOf(AgentError)
    expect(failed).toMatchObject({
      type: lines.length > 0 ? 'protocolError' : 'timeout',
      message: expect.stringMatching(
        /^sh -c .* so it is not `mainstem stdio`\. .*Nothing was sent to the program\.$/s,
      ),
    })
    await transport[Symbol.asyncDispose]()
    expect(program.received()).toBe('')
  })

  it('and ends before it greets is named with its exit code', async () => {
    const transport = new StdioTransport({ command: 'sh', args: ['-c', 'exit 2'] })
    await expect(transport.list()).rejects.toMatchObject({
      code: 'connection_failed',
      message: expect.stringMatching(
        /^sh -c exit 2: the process ended with exit code 2 before its greeting\. /,
      ),
    })
  })

  it('may print a banner before it becomes one', async () => {
    const greet = 'echo Welcome; echo \'{"protocol":"mainstem-stdio","version":1}\''
    const answer = 'read line; echo \'{"id":1,"status":200,"headers":{}}\'; echo \'{"id":1,"end":true}\''
    const script = `${greet}; ${answer}; cat > /dev/null`
    await using transport = new StdioTransport({ command: 'sh', args: ['-c', script] })
    expect((await transport.fetch('http://x/', {})).status).toBe(200)
  })
})

describe('the lines of a client', () => {
  it('are refused when they are no calls', async () => {
    await using server = await startGateway()
    const heard = await talk(server, 'hello', '{"id":1}', '{"id":2,"method":"GET","path":"http://x/"}')
    expect(heard).toEqual(Array.from({ length: 3 }, () => ({ error: 'not a valid call' })))
  })

  it('may not say who calls', async () => {
    await using server = await startGateway()
    const headers = { authorization: 'Bearer x', host: 'elsewhere' }
    const call = { id: 1, method: 'GET', path: '/api/sessions', headers }
    expect((await talk(server, JSON.stringify(call)))[0]).toMatchObject({ id: 1, status: 200 })
  })
})
