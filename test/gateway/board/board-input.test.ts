import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { schema } from '../../dialects/json-schema.ts'
import { call } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { GUEST, startGateway, type TestGateway } from '../start.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const guest = { token: GUEST }
const post = (body: unknown) => call(server, 'POST /api/sessions', { body })
const get = (path: string) => call(server, `GET /api/sessions${path}`)
const board = async (prompt = script(success)) => String((await post({ agentId: 'puppet', prompt })).body.id)
const nothingStarted = async () => expect((await get('')).body.sessions).toEqual([])

const WAITING = script({ ...text('m', 'late'), wait: true }, success)

describe('the names of agents', () => {
  test.each(['claude', 'claude-code', 'claudeCode', 'Claude_Code', 'codex', 'codexCli', 'gemini-cli'])(
    '%s is known where the agent is',
    async (name) => {
      const { body } = await post({ agentId: name, prompt: 'x' })
      expect(body).toMatchObject({ code: 'agent_not_found' })
      expect(body.detail).toMatch(/^there is no agent "(claude|codex|gemini)"/)
      expect((await post({ agentType: name, prompt: 'x' })).body).toEqual({
        ...body,
        requestId: expect.any(String),
      })
    },
  )
})

describe('bad input starts nothing', () => {
  const unified = { agentType: 'echo', prompt: 'x' }
  const config = (more: object) => ({ ...unified, config: more })
  test.each([
    ['nothing', {}, 400, 'agentId'],
    ['a list', [], 400, 'body'],
    ['no prompt', { agentId: 'echo' }, 400, 'prompt'],
    ['an empty prompt', { agentId: 'echo', prompt: '' }, 400, 'prompt'],
    ['a prompt that is no text', { agentType: 'echo', prompt: 5 }, 400, 'prompt'],
    ['both bodies at once', { ...unified, agentId: 'echo' }, 400, 'agentType'],
    ['an agent that is no id', { agentId: '--flag', prompt: 'x' }, 400, 'agentId'],
    ['an agent that does not exist', { agentId: 'nobody', prompt: 'x' }, 404, undefined],
    ['a field nobody knows', { agentId: 'echo', prompt: 'x', colour: 'red' }, 400, 'colour'],
    ['a field of config nobody knows', config({ sandbox: 'readOnly' }), 400, 'config.sandbox'],
    ['another agent in config', config({ agentType: 'puppet' }), 400, 'config.agentType'],
    ['maxTurns of 0', config({ maxTurns: 0 }), 400, 'config.maxTurns'],
    ['maxTurns of 1001', config({ maxTurns: 1001 }), 400, 'config.maxTurns'],
    ['maxTurns of 1.5', config({ maxTurns: 1.5 }), 400, 'config.maxTurns'],
    ['a mode nobody knows', config({ approvalMode: 'yolo' }), 400, 'config.approvalMode'],
    ['a sandbox nobody knows', config({ sandboxMode: 'read-only' }), 400, 'config.sandboxMode'],
    ['a model that is a flag', config({ model: '--x' }), 400, 'config.model'],
    ['a tool that is a flag', config({ blockedTools: ['-x'] }), 400, 'config.blockedTools.0'],
    ['a directory elsewhere', config({ workingDirectory: '/' }), 403, 'workingDirectory'],
    ['a directory that is relative', config({ workingDirectory: 'x' }), 403, 'workingDirectory'],
    ['more than the ceiling', config({ approvalMode: 'autoAll' }), 403, 'policy.approval'],
    ['a sandbox above the ceiling', config({ sandboxMode: 'fullAccess' }), 403, 'policy.sandbox'],
  ])('%s', async (_, body, status, field) => {
    const answer = await post(body)
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status })
    expect(answer.body.field).toBe(field)
    await nothingStarted()
  })

  test('a prompt is measured in characters, as its schema does', async () => {
    const isValid = schema('unified-request.printed')
    for (const [prompt, status] of [
      ['x'.repeat(100_000), 201],
      ['😀'.repeat(100_000), 201],
      ['x'.repeat(100_001), 400],
      ['😀'.repeat(100_001), 400],
    ] as const) {
      expect(isValid({ agentType: 'codex', prompt }) === undefined).toBe(status === 201)
      expect((await post({ agentId: 'echo', prompt })).status).toBe(status)
      expect((await post({ agentType: 'echo', prompt })).status).toBe(status)
    }
  })

  test('a server that starts or stops', async () => {
    for (const [phase, code] of [
      ['starting', 'overloaded'],
      ['draining', 'draining'],
    ] as const) {
      await using other = await startGateway({ phase: () => phase })
      const answer = await call(other, 'POST /api/sessions', { body: unified })
      expect(answer).toMatchObject({ status: 503, body: { code } })
    }
  })

  test.each(['?limit=0', '?limit=10001', '?offset=-1', '?offset=x', '?dialect=x', '?wait=1'])(
    'events%s',
    async (query) => {
      expect((await get(`/${await board()}/events${query}`)).status).toBe(400)
    },
  )

  test.each(['', '/events', '/cancel'])('an unknown session%s', async (path) => {
    const method = path === '/cancel' ? 'POST' : 'GET'
    const id = await board(WAITING)
    for (const [name, options] of [
      ['x', {}],
      ['550e8400-e29b-41d4-a716-446655440000', {}],
      [id, guest],
    ] as const) {
      const answer = await call(server, `${method} /api/sessions/${name}${path}`, options)
      expect(answer).toMatchObject({ status: 404, body: { code: 'session_not_found' } })
    }
    expect((await get(`/${id}`)).body.state).toBe('running')
  })
})
