import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HttpTransport, MainstemClient } from '../../src/client/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mainstem } from '../../src/dialects/mainstem.ts'
import { projectAll } from '../dialects/entries.ts'
import { call, fetchFrom, SSE } from '../gateway/api.ts'
import { type Cue, text as line, success } from '../gateway/puppet.ts'
import { create, hello, open, permission, result, startRpc, told } from '../gateway/rpc/rpc.ts'
import { type TestGateway, TOKEN } from '../gateway/start.ts'
import { SocketReader } from '../gateway/streams/socket.ts'
import { parseEvents, StreamReader } from '../gateway/streams/sse.ts'
import { play } from '../gateway/talker.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startRpc()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

/** What came of a wish: it was done, or somebody was faster. */
type Fate = 'won' | 'lost'

const ASKS = play(
  [hello(), line('m1', 'May I?'), permission('r1')],
  [{ ...line('m2', 'Well.'), wait: true }, success],
)

/** Readers of two faces, two of each, on a session that asks. */
async function asking() {
  const begun = await call(server, 'POST /api/sessions', { body: { agentId: 'talker', prompt: ASKS } })
  const id = String(begun.body.id)
  await expect.poll(async () => (await server.sessions.record(id))?.requests.length).toBe(1)
  const ways = ['daemon', 'unified', 'mainstem', 'board']
  const sockets = ways.flatMap((dialect) =>
    [1, 2].map(() => new SocketReader(server, `/ws/sessions/${id}?dialect=${dialect}`)),
  )
  await Promise.all(sockets.map((socket) => socket.open()))
  const streams = await Promise.all(
    [1, 2].map(async () => new StreamReader(await fetchFrom(server, events(id), { headers: SSE }))),
  )
  return { id, readers: ways.flatMap((way) => [way, way]), sockets, streams }
}

const events = (id: string) => `GET /v1/sessions/${id}/events`

async function byRequests(id: string, decision: string): Promise<Fate> {
  const [request] = (await server.sessions.record(id))?.requests ?? []
  const body = { decision, inputDigest: request?.inputDigest ?? 'gone' }
  const answer = await call(server, `POST /v1/sessions/${id}/requests/r1`, { body })
  if (answer.status === 200) return 'won'
  expect(answer).toMatchObject({ status: 409, body: { code: 'conflict', winner: { requestId: 'r1' } } })
  return 'lost'
}

async function byClient(id: string, decision: string): Promise<Fate> {
  const client = new MainstemClient({ baseUrl: server.url, token: TOKEN })
  const [request] = (await server.sessions.record(id))?.requests ?? []
  const answer = {
    decision: decision === 'allow' ? 'allow' : 'deny',
    inputDigest: request?.inputDigest ?? 'gone',
  } as const
  return client.answer(id, 'r1', answer).then(
    () => 'won',
    (thrown) => {
      expect(thrown).toMatchObject({ code: 'conflict' })
      return 'lost'
    },
  )
}

async function byDaemon(id: string, decision: string): Promise<Fate> {
  const stream = await open(server, id, decision)
  const heard = told(await stream.whole())
  expect(heard.at(-1)).toBe('[DONE]')
  const [first] = heard
  if (JSON.stringify(first).includes('"conflict"')) {
    expect(heard).toHaveLength(2)
    return 'lost'
  }
  expect(JSON.stringify(heard)).toContain(`told {\\"decision\\":\\"${decision}\\"`)
  return 'won'
}

/** Settles when this one is told that somebody was faster. */
async function lost(wish: Promise<Fate>): Promise<void> {
  if ((await wish) === 'won') throw new Error('nobody was faster')
}

const answerers = { 'our own API': byRequests, 'the client': byClient, 'the daemon': byDaemon }

const pairs = <Way>(ways: Readonly<Record<string, Way>>) => {
  const all = Object.entries(ways)
  return all.flatMap(([one, first], index) =>
    all.slice(index).map(([other, second]) => ({ one, other, first, second })),
  )
}

describe('two that answer at once, while others read', () => {
  it.each(pairs(answerers))('by $one and by $other: one wins, and the other is told', async (pair) => {
    const { id, readers, sockets, streams } = await asking()
    // Whoever answers has seen the question.
    await result(server, 'session.reconnect', { sessionId: id })
    const wishes = [pair.first(id, 'allow'), pair.second(id, 'deny')]
    await Promise.any(wishes.map(lost))
    await server.gate.open()
    const fates = await Promise.all(wishes)
    expect(fates.toSorted()).toEqual(['lost', 'won'])
    await Promise.all(sockets.map(({ closed }) => closed))
    await call(server, `POST /v1/sessions/${id}/end`)
    const log = await server.sessions.read(id, 0, 1000)
    const resolved = log.flatMap(({ event }) => (event.type === 'request.resolved' ? [event.decision] : []))
    expect(resolved).toEqual([fates[0] === 'won' ? 'allow' : 'deny'])
    expect(log.filter(({ event }) => event.type === 'turn.completed')).toHaveLength(1)
    const said = (name: string, entries = log) =>
      JSON.parse(JSON.stringify(projectAll(dialects.get(name) ?? mainstem, entries)))
    const turn = log.slice(0, log.findIndex(({ event }) => event.type === 'turn.completed') + 1)
    for (const [place, { messages }] of sockets.entries())
      expect(messages).toEqual(said(readers[place] ?? '', turn))
    for (const stream of streams)
      expect(parseEvents(await stream.whole()).map(({ data }) => data)).toEqual(said('mainstem'))
  })
})

const WAITS = play([hello(), line('m1', 'Working.'), { ...line('m2', 'Done.'), wait: true }, success])

/** What a face says of a cancel: that it stopped the turn, that it did not, or nothing of that. */
type Told = boolean | undefined

const cancellers: Readonly<Record<string, (id: string) => Promise<Told>>> = {
  'our own API': async (id) => {
    const { body } = await call(server, `POST /v1/sessions/${id}/interrupt`)
    expect(body).toMatchObject({ lastOutcome: 'interrupted', status: 'idle' })
    return undefined
  },
  'the board': async (id) => {
    const { body } = await call(server, `POST /api/sessions/${id}/cancel`)
    expect(body.state).toBe('cancelled')
    return Boolean(body.cancelled)
  },
  'the client': async (id) => {
    const transport = new HttpTransport({ baseUrl: server.url, token: TOKEN })
    await transport.cancel(id)
    expect(await transport.state(id)).toBe('cancelled')
    return undefined
  },
  'the daemon': async (id) => {
    const { ok, interrupted } = await result(server, 'session.interrupt', { sessionId: id })
    expect(ok).toBe(true)
    return Boolean(interrupted)
  },
}

describe('two that cancel at once, while others read', () => {
  it.each(pairs(cancellers))('by $one and by $other: it is stopped once', async ({ first, second }) => {
    const begun = await call(server, 'POST /api/sessions', { body: { agentId: 'talker', prompt: WAITS } })
    const id = String(begun.body.id)
    await server.gate.reached()
    const sockets = ['board', 'daemon'].flatMap((dialect) =>
      [1, 2].map(() => new SocketReader(server, `/ws/sessions/${id}?dialect=${dialect}`)),
    )
    await Promise.all(sockets.map((socket) => socket.open()))
    const fates = (await Promise.all([first(id), second(id)])).filter((fate) => fate !== undefined)
    // Where both are told, one of them did it.
    if (fates.length === 2) expect(fates.filter(Boolean)).toHaveLength(1)
    for (const { closed } of sockets) expect(await closed).toEqual({ code: 4002, reason: 'cancelled' })
    const log = await server.sessions.read(id, 0, 1000)
    const ends = log.flatMap(({ event }) => (event.type === 'turn.completed' ? [event.outcome] : []))
    expect(ends).toEqual(['interrupted'])
    for (const [place, { messages }] of sockets.entries()) {
      const dialect = dialects.get(place < 2 ? 'board' : 'daemon') ?? mainstem
      expect(messages).toEqual(JSON.parse(JSON.stringify(projectAll(dialect, log))))
    }
  })
})

it('a late answer is no prompt while no client has seen the end of the turn', async () => {
  const { id } = await asking()
  await result(server, 'session.reconnect', { sessionId: id })
  expect(await byRequests(id, 'deny')).toBe('won')
  await server.gate.open()
  await server.sessions.get(id)?.settled(1)
  expect(await byDaemon(id, 'Allow')).toBe('lost')
  expect(await server.sessions.record(id)).toMatchObject({ turns: 1, queue: [] })
})

it('a late answer is a prompt once a client has seen the end of the turn', async () => {
  // What can be chosen is also something that this agent can be told to do.
  const again = play([success])
  const questions = [{ id: 'q', text: 'Which?', options: [{ label: again }] }]
  const asks: Cue = {
    say: {
      type: 'request.opened',
      requestId: 'r1',
      kind: 'question',
      blocking: true,
      options: [],
      questions,
    },
  }
  const id = await create(server, { mode: 'ask' })
  const say = async (message: string) => told(await (await open(server, id, message)).whole())
  await say(play([asks], [success]))
  expect(await say(again)).toContainEqual(expect.objectContaining({ type: 'result' }))
  expect(await server.sessions.record(id)).toMatchObject({ turns: 1 })
  expect(await say(again)).toContainEqual(expect.objectContaining({ type: 'result' }))
  expect(await server.sessions.record(id)).toMatchObject({ turns: 2 })
})

it('two that reconnect at once lose nothing: a cursor reads again what the other was given', async () => {
  const { id } = await asking()
  const reconnect = (after?: string) => result(server, 'session.reconnect', { sessionId: id, after })
  const both = await Promise.all([reconnect(), reconnect()])
  const lengths = both.map(({ bufferedEvents }) => (bufferedEvents as unknown[]).length)
  expect(lengths).toContain(5)
  expect(lengths.every((length) => length === 5 || length === 0)).toBe(true)
  const [one, other] = await Promise.all([reconnect('0'), reconnect('0')])
  expect(one).toEqual(other)
  expect(one?.bufferedEvents).toHaveLength(5)
  const winner = byDaemon(id, 'allow')
  await server.gate.open()
  expect(await winner).toBe('won')
  const after = { sessionId: id, after: one?.cursor }
  const [first, second] = await Promise.all([
    result(server, 'session.reconnect', after),
    result(server, 'session.reconnect', after),
  ])
  expect(first).toEqual(second)
  expect(JSON.stringify(first?.bufferedEvents)).toContain('"Well."')
})
