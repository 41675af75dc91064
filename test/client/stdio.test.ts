import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { AgentClient, MainstemClient } from '../../src/client/index.ts'
import { StdioTransport } from '../../src/client/stdio/index.ts'
import { passCalls } from '../../src/daemon/stdio.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, type TestGateway, TOKEN } from '../gateway/start.ts'
import { collect, quick, StdioScene } from './scene.ts'

vi.setConfig({ testTimeout: 180_000 })

/** The command as a user starts it, with a server of its own and an empty home. */
function ownServer() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')))
  const transport = new StdioTransport({
    command: process.execPath,
    args: ['src/cli/main.ts', 'stdio', '--data', join(home, 'data'), '--cwd', home],
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
  while (heard.length < said.length) {
    rest += String(output.read() ?? (await new Promise((resolve) => output.once('data', resolve))))
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    heard.push(...lines.map((line) => JSON.parse(line)))
  }
  input.end()
  await passed
  return heard
}

describe('mainstem stdio', () => {
  it('runs a server of its own, whose log outlives it', async () => {
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

  it('is started again when it was killed, and the reader goes on where it was', async () => {
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

  it('that cannot be started is a connection that failed', async () => {
    const transport = new StdioTransport({ command: '/nowhere/mainstem' })
    await expect(transport.list()).rejects.toMatchObject({ code: 'connection_failed' })
  })
})

describe('the lines of a client', () => {
  it('are refused when they are no calls', async () => {
    await using server = await startGateway()
    const heard = await talk(server, 'hello', '{"id":1}', '{"id":2,"method":"GET","path":"http://x/"}')
    expect(heard).toEqual(Array.from({ length: 3 }, () => ({ error: 'this is no call' })))
  })

  it('may not say who calls', async () => {
    await using server = await startGateway()
    const headers = { authorization: 'Bearer x', host: 'elsewhere' }
    const call = { id: 1, method: 'GET', path: '/api/sessions', headers }
    expect((await talk(server, JSON.stringify(call)))[0]).toMatchObject({ id: 1, status: 200 })
  })
})
