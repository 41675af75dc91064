import { expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { MainstemClient } from '../../src/client/index.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import { driver } from '../../src/drivers/index.ts'
import type { Policy } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { begin, call } from './api.ts'
import { Gate } from './gate.ts'
import { able, promptFor, script, success, text } from './puppet.ts'
import { startGateway, type TestGateway, TOKEN } from './start.ts'

const { live } = able.launches
if (!live) throw new Error('the able puppet has a live launch')

/** An agent with every command of a terminal. */
const verbal: Agent = {
  ...able,
  id: 'verbal',
  launches: {
    live: {
      ...live,
      capabilities: {
        ...live.capabilities,
        resume: true,
        verbs: ['fork', 'compact', 'review', 'goal', 'rewind'],
      },
    },
  },
}

const FREE: Policy = { approval: 'auto-all', sandbox: 'full-access' }
const worked = script(
  { say: { type: 'session.updated', nativeSessionId: 'native-1' } },
  text('m', 'one'),
  success,
)
const clientOf = ({ url }: TestGateway) => new MainstemClient({ baseUrl: url, token: TOKEN })

/** What each process was started with. */
function watched() {
  const started: (Readonly<Record<string, string>> | undefined)[] = []
  const agents = driver({ timers: new Gate() })
  const watching: Driver = {
    start(launch, context) {
      started.push(context.keys)
      return agents.start(launch, context)
    },
  }
  return { started, watching }
}

test.each([
  ['compact', '/compact', (client: MainstemClient, id: string) => client.compact(id)],
  ['review', '/review', (client: MainstemClient, id: string) => client.review(id)],
  ['goal', '/goal all tests pass', (client: MainstemClient, id: string) => client.goal(id, 'all tests pass')],
  ['rewind', '/rewind 1', (client: MainstemClient, id: string) => client.rewind(id, 1)],
])('%s is a turn with the prompt %s', async (_, prompt, send) => {
  promptFor(prompt, script(text('m', 'done'), success))
  await using server = await startGateway({ more: [verbal] })
  const id = await begin(server, { agent: 'verbal', prompt: worked })
  await server.sessions.get(id)?.settled(1)
  expect(await send(clientOf(server), id)).toBe(2)
  expect(await server.sessions.get(id)?.settled(2)).toMatchObject({ outcome: 'completed', result: 'done' })
  const entries = await server.sessions.read(id, 0, 100)
  expect(entries.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: 'turn.started', turn: 2, prompt }),
  )
})

test.each([
  ['goal', { goal: ' ' }],
  ['rewind', { turn: 0 }],
])('%s is refused without its argument', async (verb, body) => {
  await using server = await startGateway({ more: [verbal] })
  const id = await begin(server, { agent: 'verbal', prompt: worked })
  expect(await call(server, `POST /v1/sessions/${id}/${verb}`, { body })).toMatchObject({ status: 400 })
})

test('a fork has no more rights than this server allows now', async () => {
  const store = memoryStore()
  let id = ''
  {
    await using server = await startGateway({ store, ceiling: FREE })
    id = await begin(server, { agent: 'able', prompt: worked, policy: FREE, options: { env: { A: 'b' } } })
    await server.sessions.get(id)?.settled(1)
    await server.sessions.drain()
  }
  await using server = await startGateway({ store })
  await server.sessions.recover()
  const copy = await clientOf(server).fork(id)
  const record = await server.sessions.record(copy.id)
  expect(record?.policy).toMatchObject({ approval: 'auto-edit', sandbox: 'none' })
  expect(record?.options).not.toHaveProperty('env')
})

test('keys of a prompt, a command and a fork reach the next process, and are replaced by later ones', async () => {
  const { started, watching } = watched()
  await using server = await startGateway({ more: [verbal], driver: watching, ceiling: FREE })
  const client = clientOf(server)
  const id = await begin(server, { agent: 'verbal', prompt: worked })
  await server.sessions.get(id)?.settled(1)
  const settled = async (turn: number) => {
    await server.sessions.get(id)?.settled(turn)
  }
  await settled(await client.prompt(id, worked, undefined, undefined, { KEY: 'one' }))
  // The process has them already.
  await settled(await client.prompt(id, worked, undefined, undefined, { KEY: 'one' }))
  promptFor('/review', worked)
  await settled(await client.review(id, { KEY: 'two' }))
  const copy = await client.fork(id, { prompt: worked, keys: { KEY: 'three' } })
  await server.sessions.get(copy.id)?.settled(1)
  expect(started).toEqual([undefined, { KEY: 'one' }, { KEY: 'two' }, { KEY: 'three' }])
})

test('keys are no part of what an idempotency key compares', async () => {
  const { watching } = watched()
  await using server = await startGateway({ driver: watching, ceiling: FREE })
  const client = clientOf(server)
  const id = await begin(server, { agent: 'able', prompt: worked })
  expect(await client.prompt(id, worked, undefined, 'again', { KEY: 'one' })).toBe(2)
  expect(await client.prompt(id, worked, undefined, 'again', { KEY: 'two' })).toBe(2)
})

test.each(['turns', 'compact', 'fork'])('keys of %s are refused below a ceiling', async (command) => {
  await using server = await startGateway({ more: [verbal] })
  const id = await begin(server, { agent: 'verbal', prompt: worked })
  await server.sessions.get(id)?.settled(1)
  const body = { keys: { KEY: 'one' }, ...(command === 'turns' && { prompt: worked }) }
  expect(await call(server, `POST /v1/sessions/${id}/${command}`, { body })).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  })
})
