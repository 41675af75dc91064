import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents } from '../../src/agents/index.ts'
import { AgentClient, HttpTransport } from '../../src/client/index.ts'
import { StdioTransport } from '../../src/client/stdio/index.ts'
import { systemTimers } from '../../src/compose/clock.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mainstem } from '../../src/library/mainstem.ts'
import { agentAt } from '../../src/sessions/process/recipes.ts'
import { opencode } from '../../src/ues/index.ts'
import { fixtures } from '../agents/fixtures.ts'
import { Home, MAIN } from '../cli/mainstem-process.ts'
import { collect, quick } from '../client/scene.ts'
import { projectAll } from '../dialects/entries.ts'
import { Opencode2 } from '../drivers/opencode2/opencode2-play.ts'
import { create, exchange, result, startRpc } from '../gateway/rpc/rpc.ts'
import { type TestGateway, TOKEN } from '../gateway/start.ts'
import { parseEvents } from '../gateway/streams/sse.ts'
import { ways } from './ways.ts'

/** A recording with reasoning, text, a call and an answer. */
const PROMPT = 'think_tool please'

const [fixture] = fixtures.filter(({ name }) => name === 'opencode2/think_tool')
if (!fixture) throw new Error('there is no recording of think_tool')
/** Without `execute`, which would begin a session of its own. */
const readings = Object.entries(ways).filter(([name]) => name !== 'execute')

const program = new Opencode2()
const [known] = agents.filter(({ id }) => id === 'opencode')
if (!known) throw new Error('there is no agent opencode')
const installed = agentAt(known, '2.0.17')

/** A home whose `opencode` is version 2. */
function homeWith({ settings }: Opencode2): Home {
  const home = new Home()
  mkdirSync(home.data, { mode: 0o700 })
  writeFileSync(join(home.data, 'config.json'), JSON.stringify({ agents: settings }))
  return home
}

/** Runs a prompt by a client of the unified protocol, and returns what it read, at once and again. */
async function spoken(client: AgentClient) {
  const session = await client.createSession({ prompt: PROMPT })
  const events = await collect(session.events)
  return { events, again: await collect(client.session(session.id).events) }
}

let server: TestGateway
beforeAll(async () => {
  server = await startRpc({ more: [installed], settings: program.settings, timers: systemTimers })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

describe('a session of OpenCode 2', () => {
  it('is executed', async () => {
    const response = await server.execute({ task: PROMPT, driver: 'opencode' })
    const messages = parseEvents(await response.text()).map(({ data }) => data)
    expect(JSON.stringify(messages)).toContain('Ran.')
    const id = response.headers.get('mainstem-session') ?? ''
    const ended = (await server.sessions.read(id, 0, 1000)).find(
      ({ event }) => event.type === 'turn.completed',
    )
    expect(ended?.event).toMatchObject({ outcome: 'completed', result: 'Ran.', usage: { input: 150 } })
  })

  it.each([...dialects.values()])(
    'says the same by rpc and by every way to read it in $id',
    async (dialect) => {
      const id = await create(server, { cli_type: 'opencode' })
      const sent = await exchange(server, id, PROMPT)
      expect(JSON.stringify(sent)).toContain('Ran.')
      await result(server, 'session.destroy', { sessionId: id })
      const log = await server.sessions.read(id, 0, 1000)
      const said: unknown[] = JSON.parse(JSON.stringify(projectAll(dialect, log)))
      for (const [name, read] of readings)
        expect(await read({ server, id, dialect: dialect.id, fixture }), name).toEqual(said)
    },
  )

  it('is driven by the library, which finds the version', async () => {
    await using library = mainstem({ agents: program.settings })
    const allow = () => ({ decision: 'allow' }) as const
    const session = await library.session({ agent: 'opencode', cwd: program.folder, onRequest: allow })
    const turn = await session.prompt('perm_bash_once please').result()
    expect(turn).toMatchObject({ outcome: 'completed', text: 'The command succeeded.' })
  })

  it('is driven by ues, which finds the version', async () => {
    const events = await Array.fromAsync(
      opencode(program.settings.opencode).run(PROMPT, { cwd: program.folder }),
    )
    expect(events.at(-1)).toMatchObject({ type: 'done', payload: { status: 'success' } })
  })

  it('is run by the command line, which finds the version', async () => {
    const own = new Opencode2()
    await using home = homeWith(own)
    const { code, out, err } = await home.mainstem(['run', 'opencode', PROMPT])
    expect({ code, out }).toEqual({ code: 0, out: 'Ran.\n' })
    expect(err).toContain('opencode')
    expect(own.calls(/POST .*\/prompt$/).map(({ body }) => body.text)).toEqual([PROMPT])
    const { out: listed } = await home.mainstem(['ls', '--json'])
    expect(listed).toContain('opencode')
  })

  it('is run over standard input and output', async () => {
    const own = new Opencode2()
    await using home = homeWith(own)
    await using transport = new StdioTransport({
      command: process.execPath,
      args: [MAIN, 'stdio', '--data', home.data, '--cwd', program.folder],
      env: { MAINSTEM_HOME: home.data },
    })
    const { events, again } = await spoken(
      new AgentClient({ agentType: 'opencode', transport, timers: quick }),
    )
    expect(JSON.stringify(events)).toContain('Ran.')
    expect(again).toEqual(events)
    expect(own.calls(/POST .*\/prompt$/)).toHaveLength(1)
  })

  it('is run by a client that polls', async () => {
    const transport = new HttpTransport({ baseUrl: server.url, token: TOKEN, timers: quick })
    const { events, again } = await spoken(
      new AgentClient({ agentType: 'opencode', transport, timers: quick }),
    )
    expect(JSON.stringify(events)).toContain('Ran.')
    expect(again).toEqual(events)
  })
})
