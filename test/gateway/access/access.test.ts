import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { tokenOf } from '../../../src/gateway/http/auth.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { call } from '../api.ts'
import { GUEST, startGateway, type TestGateway } from '../start.ts'

let server: TestGateway
let store: ReturnType<typeof memoryStore>
beforeEach(async () => {
  store = memoryStore()
  server = await startGateway({ store })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const ANN = 'a-token-of-ann'
const digestOf = (token: string) => tokenOf('', token).digest
const add = (name: string, token: string, as?: string) =>
  call(server, 'POST /v1/tokens', {
    body: { name, digest: digestOf(token) },
    ...(as !== undefined && { token: as }),
  })
const me = async (token: string) => (await call(server, 'GET /v1/server', { token })).body.principal
const trail = async () =>
  (await store.access.audit({ order: 'oldest', limit: 10 })).map(({ action, principal, client, details }) => [
    ...[action, principal, client],
    details,
  ])

describe('tokens', () => {
  test('are added, listed and removed by an operator, and each change is in the audit trail', async () => {
    expect((await add('ann', ANN)).status).toBe(204)
    expect(await me(ANN)).toBe('ann')
    expect((await call(server, 'GET /v1/tokens')).body).toEqual({
      tokens: [{ name: 'ann', roles: [], createdAt: expect.any(Number), by: 'owner' }],
    })
    expect((await call(server, 'DELETE /v1/tokens/ann')).status).toBe(204)
    expect(await me(ANN)).toBeUndefined()
    expect((await call(server, 'GET /v1/tokens')).body).toEqual({ tokens: [] })
    expect(await trail()).toEqual([
      ['token.added', 'owner', 'api', { name: 'ann' }],
      ['token.removed', 'owner', 'api', { name: 'ann' }],
    ])
  })

  test('are in the audit trail in the order of their changes, also within one millisecond', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now())
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`)
    for (const name of names) await add(name, name)
    vi.restoreAllMocks()
    expect((await trail()).map(([, , , details]) => details)).toEqual(names.map((name) => ({ name })))
  })

  test('are nobody else’s business', async () => {
    await add('ann', ANN)
    for (const route of ['GET /v1/tokens', 'DELETE /v1/tokens/ann'])
      expect((await call(server, route, { token: GUEST })).status).toBe(403)
    expect((await add('bob', 'x', GUEST)).status).toBe(403)
    expect(await me(ANN)).toBe('ann')
  })

  test.each(['', 'A', '-x', 'a b', 'a/b', 'a\n', 'ä', 'x'.repeat(65), 'login:x'])(
    'cannot have the name %j',
    async (name) => {
      expect((await add(name, ANN)).status).toBe(400)
    },
  )

  test('have names of their own, and the first cannot be removed', async () => {
    await add('ann', ANN)
    expect((await add('ann', 'another')).body.detail).toBe('a token ann already exists')
    expect((await add('owner', 'another')).status).toBe(409)
    expect((await call(server, 'DELETE /v1/tokens/nobody')).status).toBe(404)
    expect((await call(server, 'DELETE /v1/tokens/owner')).status).toBe(400)
  })

  test('of many that are added and removed at once none is lost', async () => {
    await add('gone', ANN)
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`)
    await Promise.all([call(server, 'DELETE /v1/tokens/gone'), ...names.map((name) => add(name, name))])
    const { tokens } = (await call(server, 'GET /v1/tokens')).body as { tokens: { name: string }[] }
    expect(tokens.map(({ name }) => name).sort()).toEqual(names.sort())
  })

  test('that were read last count while the store cannot be read', async () => {
    await add('ann', ANN)
    expect(await me(ANN)).toBe('ann')
    const { tokens } = store.access
    store.access.tokens = () => Promise.reject(new Error('the database is away'))
    expect([await me(ANN), await me('wrong')]).toEqual(['ann', undefined])
    store.access.tokens = tokens
  })
})

describe('a login', () => {
  const LAPTOP = 'a-token-of-the-laptop'
  const login = (token: string, as: string) =>
    call(server, 'POST /v1/logins', { token: as, body: { digest: digestOf(token), name: 'laptop' } })

  test('ends with the token that allowed it, also if that is added again', async () => {
    await add('ann', ANN)
    expect((await login(LAPTOP, ANN)).body).toMatchObject({
      principal: 'ann',
      name: 'laptop',
      current: false,
    })
    expect(await me(LAPTOP)).toBe('ann')
    expect((await login('more', LAPTOP)).status).toBe(403)
    expect((await login(LAPTOP, ANN)).body.detail).toBe('this link was used before')
    await call(server, 'DELETE /v1/tokens/ann')
    await add('ann', 'a-new-token')
    expect(await me(LAPTOP)).toBeUndefined()
  })

  test('is removed by itself or its principal, and cannot come back', async () => {
    await add('ann', ANN)
    await login(LAPTOP, ANN)
    const [one] = (await call(server, 'GET /v1/logins', { token: ANN })).body.logins as { id: string }[]
    expect((await call(server, `DELETE /v1/logins/${one?.id}`, { token: GUEST })).status).toBe(404)
    expect((await call(server, 'DELETE /v1/logins/current', { token: LAPTOP })).status).toBe(204)
    expect(await me(LAPTOP)).toBeUndefined()
    expect((await login(LAPTOP, ANN)).status).toBe(409)
    expect((await call(server, 'GET /v1/logins', { token: ANN })).body).toEqual({ logins: [] })
    expect((await trail()).slice(1)).toEqual([
      ['token.added', 'ann', 'api', { name: expect.any(String), principal: 'ann', login: 'laptop' }],
      ['token.removed', 'ann', 'api', { name: expect.any(String) }],
    ])
  })
})

test('without authentication there are no tokens, logins and grants to change', async () => {
  await using open = await startGateway({ tokens: undefined })
  for (const route of ['POST /v1/tokens', 'POST /v1/logins'])
    expect((await call(open, route, { body: { name: 'ann', digest: digestOf(ANN) } })).status).toBe(409)
  expect((await call(open, 'POST /v1/grants', { body: { to: 'a', of: 'b' } })).status).toBe(409)
  expect((await call(open, 'GET /v1/grants')).body).toEqual({ grants: [] })
  expect((await call(open, 'GET /v1/sessions')).body).toEqual({ sessions: [] })
})
