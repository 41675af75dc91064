import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Emitted } from '../../src/agents/agent.ts'
import { begin, call } from './api.ts'
import { script, success } from './puppet.ts'
import { GUEST, startGateway, type TestGateway } from './start.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const ask = (requestId: string, input: unknown = { command: 'ls' }): { say: Emitted } => ({
  say: {
    type: 'request.opened',
    requestId,
    kind: 'permission',
    blocking: true,
    tool: 'Bash',
    input,
    options: [],
  },
})
const asking = (...ids: string[]) => script(...ids.map((id) => ask(id)), { ...success, wait: true })

interface Listed {
  session: string
  seq: number
  at: number
  request: { requestId: string; inputDigest: string }
}
const list = async (token?: string) =>
  (await call(server, 'GET /v1/requests', token === undefined ? {} : { token })).body.requests as Listed[]

/** Begins a session whose agent asks, and waits until it does. */
async function asked(...ids: string[]): Promise<Listed[]> {
  const id = await begin(server, { prompt: asking(...ids) })
  await server.gate.reached()
  return (await list()).filter(({ session }) => session === id)
}

const answer = ({ session, request }: Listed, body: object = {}, token?: string) =>
  call(server, `POST /v1/sessions/${session}/requests/${request.requestId}`, {
    body: { decision: 'allow', inputDigest: request.inputDigest, ...body },
    ...(token !== undefined && { token }),
  })

/** The one request there is. */
async function one(id = 'r1'): Promise<Listed> {
  const [request] = await asked(id)
  if (!request) throw new Error('nothing was asked')
  return request
}

test('open requests are listed, oldest first, and their session is asking', async () => {
  const ids = [...(await asked('a', 'b')), ...(await asked('c'))].map(({ request }) => request.requestId)
  expect(ids).toEqual(['a', 'b', 'c'])
  const listed = await list()
  expect(listed.map(({ request }) => request.requestId)).toEqual(ids)
  expect(listed[0]).toMatchObject({ agent: 'puppet', cwd: server.root, turn: 1 })
  const { body } = await call(server, 'GET /v1/sessions?asking=1')
  expect(body.sessions).toHaveLength(2)
})

describe('an answer', () => {
  test.each([
    [undefined, 'api'],
    ['page', 'page'],
    ['terminal', 'terminal'],
    ['library', 'api'],
    ['policy', 'api'],
  ])('of a client that names itself %s is logged with its principal, as %s', async (named, client) => {
    const { session, request } = await one()
    const { inputDigest, requestId } = request
    const route = `POST /v1/sessions/${session}/requests/${requestId}`
    const headers = named === undefined ? {} : { 'x-mainstem-client': named }
    await call(server, route, { body: { decision: 'deny', inputDigest }, headers })
    const page = await call(server, `GET /v1/sessions/${session}/events?types=request.resolved`)
    expect(page.body.entries).toMatchObject([{ event: { by: 'person', principal: 'owner', client } }])
  })

  test.each([{ principal: 'guest' }, { client: 'page' }, { by: 'hook' }])(
    'cannot name its author: %j',
    async (author) => {
      expect(await answer(await one(), author)).toMatchObject({ status: 400 })
    },
  )

  test('is in the log before it is acknowledged, and the request is closed', async () => {
    const request = await one()
    const { status, body } = await answer(request, { scope: 'once', message: 'go' })
    expect([status, body.requests]).toEqual([200, []])
    const page = await call(server, `GET /v1/sessions/${request.session}/events?types=request.resolved`)
    expect(page.body.entries).toMatchObject([
      { event: { requestId: 'r1', decision: 'allow', scope: 'once', message: 'go', by: 'person' } },
    ])
    expect(await list()).toEqual([])
  })

  test('with another input digest is a conflict, and the request stays open', async () => {
    const request = await one()
    const refused = await answer(request, { inputDigest: 'of something else' })
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict', field: 'inputDigest' } })
    expect(await list()).toHaveLength(1)
    expect((await answer(request)).status).toBe(200)
  })

  test('that comes second gets the first decision', async () => {
    const request = await one()
    await answer(request, { decision: 'deny', message: 'no' })
    const late = await answer(request)
    expect(late).toMatchObject({
      status: 409,
      body: { code: 'conflict', winner: { decision: 'deny', message: 'no', by: 'person' } },
    })
  })

  test('of many at once wins once: the others get that decision', async () => {
    const request = await one()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => answer(request, { message: `${index}` })),
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    const winners = answers.filter(({ status }) => status === 409).map(({ body }) => body.winner)
    expect(winners).toHaveLength(9)
    expect(new Set(winners.map((winner) => JSON.stringify(winner))).size).toBe(1)
    const page = await call(server, `GET /v1/sessions/${request.session}/events?types=request.resolved`)
    expect(page.body.entries).toMatchObject([{ event: winners[0] }])
  })

  test('to a request that was withdrawn is a conflict', async () => {
    const withdrawn: Emitted = { type: 'request.withdrawn', requestId: 'r1', reason: 'agent' }
    const id = await begin(server, { prompt: script(ask('r1'), { say: withdrawn, wait: true }, success) })
    await server.gate.reached()
    const [request] = await list()
    if (!request) throw new Error('nothing was asked')
    await server.gate.open()
    await server.sessions.get(id)?.settled(1)
    const late = await answer(request)
    expect(late).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(late.body).not.toHaveProperty('winner')
  })

  test('to an unknown request is not found', async () => {
    const { session, ...rest } = await one()
    const other = { ...rest, session, request: { requestId: 'other', inputDigest: '' } }
    expect(await answer(other)).toMatchObject({ status: 404, body: { code: 'request_not_found' } })
  })

  test('can deny and stop the turn', async () => {
    const request = await one()
    const { body } = await answer(request, { decision: 'deny', interrupt: true })
    expect(body).toMatchObject({ status: 'idle', lastOutcome: 'interrupted' })
  })

  test('of another principal finds nothing, and decides nothing', async () => {
    const request = await one()
    expect((await answer(request, {}, GUEST)).status).toBe(404)
    expect(await list(GUEST)).toEqual([])
    expect(await list()).toHaveLength(1)
  })

  test.each([
    { inputDigest: undefined },
    { decision: 'yes' },
    { scope: 'forever' },
    { answers: ['a'] },
    { by: 'policy' },
  ])('with %j is refused', async (wrong) => {
    const request = await one()
    expect((await answer(request, wrong)).status).toBe(400)
    expect(await list()).toHaveLength(1)
  })
})

test('questions are answered by their ids', async () => {
  const question: Emitted = {
    type: 'request.opened',
    requestId: 'q',
    kind: 'question',
    blocking: true,
    options: [],
    questions: [{ id: 'colour', text: 'Which?', options: [{ label: 'red' }] }],
  }
  await begin(server, { prompt: script({ say: question }, { ...success, wait: true }) })
  await server.gate.reached()
  const [request] = await list()
  if (!request) throw new Error('nothing was asked')
  expect((await answer(request, { decision: 'answered', answers: { colour: ['red'] } })).status).toBe(200)
})
