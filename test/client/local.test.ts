import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import * as everywhere from '../../src/client/index.ts'
import * as inNode from '../../src/client/node/index.ts'
import { StdioTransport } from '../../src/client/stdio/index.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import { startGateway, TOKEN } from '../gateway/start.ts'
import { collect, quick } from './scene.ts'

vi.setConfig({ testTimeout: 120_000 })

const ROOT = resolve(import.meta.dirname, '../..')

/** The usage example of the unified protocol's document, section 9.2. */
const USAGE = `
import { AgentClient, AgentType, ApprovalMode, SandboxMode } from '${ROOT}/src/client/node/index.ts'

const client = new AgentClient({ agentType: AgentType.codex, config: { workingDirectory: process.argv[2] } })
const session = await client.createSession({
  prompt: 'one say',
  config: { approvalMode: ApprovalMode.ask, sandboxMode: SandboxMode.workspaceWrite, model: 'gpt-4' },
})
for await (const event of session.events) {
  if (event.type === 'textChunk') process.stdout.write(event.content)
  if (event.type === 'sessionEnded') console.log('Session ended: ' + event.reason)
}
const resumed = await client.resumeSession({ sessionId: session.id, prompt: 'two say' })
for await (const event of resumed.events) if (event.type === 'textChunk') process.stdout.write(event.content)
`

/** An empty home with a stand-in for Codex on the PATH. */
function emptyHome() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')))
  for (const name of ['bin', 'project']) mkdirSync(join(home, name))
  const fake = `exec '${process.execPath}' '${ROOT}/faults/fakes/agent.ts' '${home}' codex "$@"`
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo 9.9.9 && exit\n${fake}\n`
  writeFileSync(join(home, 'bin/codex'), script, { mode: 0o755 })
  return {
    path: home,
    env: {
      PATH: `${join(home, 'bin')}${delimiter}/usr/bin${delimiter}/bin`,
      HOME: home,
      MAINSTEM_HOME: join(home, 'data'),
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true }),
  }
}

const wordsOf = (name: string) => Array.from({ length: 12 }, (_, index) => `${name}.${index} `).join('')

describe('AgentClient in Node without a transport', () => {
  it('runs the usage example of the document without a server, and the program ends by itself', async () => {
    using home = emptyHome()
    const program = join(home.path, 'usage.mjs')
    writeFileSync(program, USAGE)
    const run = promisify(execFile)(process.execPath, [program, join(home.path, 'project')], {
      cwd: home.path,
      env: home.env,
    })
    const { stdout, stderr } = await run
    expect(stderr).toBe('')
    expect(stdout).toBe(`${wordsOf('one')}Session ended: completed\n${wordsOf('two')}`)
  })

  it.each([
    ['a baseUrl', (url: string) => ({ baseUrl: url, token: TOKEN })],
    ['a WebSocket address', (url: string) => ({ baseUrl: url.replace('http', 'ws'), token: TOKEN })],
  ])('uses the server that %s names', async (_, configOf) => {
    await using server = await startGateway()
    const client = new inNode.AgentClient({ agentType: 'echo', config: configOf(server.url) })
    const { id } = await client.createSession({ prompt: 'hello' })
    const headers = { authorization: `Bearer ${TOKEN}` }
    expect((await fetch(`${server.url}/v1/sessions/${id}`, { headers })).status).toBe(200)
  })

  it('has the names of the entry for browsers', () => {
    expect(Object.keys(inNode).sort()).toEqual(Object.keys(everywhere).sort())
  })
})

describe('mainstem stdio on the data of a running server', () => {
  it('passes its calls to that server, and starts its own server when that one has stopped', async () => {
    using home = emptyHome()
    const data = join(home.path, 'data')
    const config = await loadConfig({
      flags: { port: 0, data, cwd: home.path },
      environment: { MAINSTEM_HOME: home.path },
      cwd: home.path,
    })
    const server = await serve({ config, report: () => undefined })
    await using transport = new StdioTransport({
      args: ['stdio', '--data', data, '--cwd', home.path],
      env: { MAINSTEM_HOME: home.path },
    })
    const client = new inNode.AgentClient({ agentType: 'echo', transport, timers: quick })
    const session = await client.createSession({ prompt: 'hello' })
    const events = await collect(session.events)
    expect(events.at(-1)).toMatchObject({ type: 'sessionEnded', reason: 'completed' })
    const headers = { authorization: `Bearer ${server.tokenFile?.token}` }
    const listed = await fetch(`${server.url}/v1/sessions/${session.id}`, { headers })
    expect(listed.status).toBe(200)
    await server.stop()
    expect(await collect(client.session(session.id).events)).toEqual(events)
  })
})
