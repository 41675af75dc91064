import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenOf } from '../../../src/gateway/http/auth.ts'
import { Tickets } from '../../../src/gateway/http/tickets.ts'
import { SIGN_IN_MS, SignInCookies } from '../../../src/gateway/web/sign-in-cookie.ts'
import { UsedIds } from '../../../src/stores/used-ids.ts'
import { GUEST, startGateway, type TestGateway, TOKEN } from '../start.ts'

let server: TestGateway
let now = 1_800_000_000_000
const tokens = [tokenOf('owner', TOKEN), tokenOf('guest', GUEST)]
let known = tokens
const tickets = new Tickets(new UsedIds(() => now))

beforeAll(async () => {
  server = await startGateway({
    tokens: async () => known,
    tickets,
    cookies: new SignInCookies(() => now),
  })
})
afterAll(() => server[Symbol.asyncDispose]())

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

async function cookieFor(body: unknown): Promise<string> {
  const response = await post('/v1/sign-in', body)
  expect(response.status).toBe(204)
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

const detail = async (response: Response) => ((await response.json()) as { detail: string }).detail

describe('sign-in of a browser', () => {
  test('a token becomes a cookie that scripts and other sites cannot use', async () => {
    const response = await post('/v1/sign-in', { token: TOKEN })
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(
      new RegExp(`^mainstem-${server.port}=[^;]+; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict$`),
    )
    expect(cookie).not.toContain(TOKEN)
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('the cookie is marked Secure when the browser reports a page over TLS', async () => {
    const response = await post(
      '/v1/sign-in',
      { token: TOKEN },
      { origin: `https://127.0.0.1:${server.port}` },
    )
    expect(response.headers.get('set-cookie')).toContain('; Secure')
  })

  test('a ticket signs in once', async () => {
    const ticket = await tickets.issue(tokenOf('guest', GUEST))
    const cookie = await cookieFor({ ticket })
    const me = await fetch(`${server.url}/v1/server`, { headers: { cookie } })
    expect(await me.json()).toMatchObject({ principal: 'guest', authentication: true })
    const again = await post('/v1/sign-in', { ticket })
    expect(again.status).toBe(401)
    expect(await detail(again)).toBe('this link was used before or has expired')
  })

  test('a link of another principal replaces a sign-in only if that is asked for', async () => {
    const ticket = await tickets.issue(tokenOf('guest', GUEST))
    const headers = { cookie: await cookieFor({ token: TOKEN }), origin: server.url }
    const refused = await post('/v1/sign-in', { ticket }, headers)
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([409, null])
    expect(await detail(refused)).toBe('you are signed in as owner, and this link signs in as guest')
    const own = await post('/v1/sign-in', { ticket: await tickets.issue(tokenOf('owner', TOKEN)) }, headers)
    expect(own.status).toBe(204)
    expect((await post('/v1/sign-in', { ticket, replace: true }, headers)).status).toBe(204)
    expect((await post('/v1/sign-in', { ticket, replace: true }, headers)).status).toBe(401)
  })

  test('a ticket that is too old does not sign in', async () => {
    const ticket = await tickets.issue(tokenOf('owner', TOKEN))
    now += 30_000
    expect((await post('/v1/sign-in', { ticket })).status).toBe(401)
  })

  test.each([
    [{ token: 'wrong' }, 401],
    [{ ticket: 'wrong' }, 401],
    [{}, 400],
    [{ token: TOKEN, ticket: 'x' }, 400],
  ])('%j is refused with %i', async (body, status) => {
    expect((await post('/v1/sign-in', body)).status).toBe(status)
  })

  test('the cookie of a token opens what belongs to its principal, and nothing else', async () => {
    const cookie = await cookieFor({ token: GUEST })
    const own = await post('/v1/sessions', { agent: 'echo' }, { cookie, origin: server.url })
    expect(own.status).toBe(201)
    const list = await fetch(`${server.url}/v1/sessions`, { headers: { cookie } })
    expect(await list.json()).toMatchObject({ sessions: [{ principal: 'guest' }] })
    const owner = await cookieFor({ token: TOKEN })
    const other = await fetch(`${server.url}/v1/sessions`, { headers: { cookie: owner } })
    expect(await other.json()).toEqual({ sessions: [] })
  })

  test('the reference is readable with the cookie', async () => {
    const cookie = await cookieFor({ token: TOKEN })
    const response = await fetch(`${server.url}/docs`, { headers: { cookie } })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  })

  test('a write with the cookie needs the Origin of the page itself', async () => {
    const cookie = await cookieFor({ token: TOKEN })
    const write = (headers: Record<string, string>) =>
      post('/v1/sessions', { agent: 'echo' }, { cookie, ...headers })
    expect((await write({})).status).toBe(401)
    expect((await write({ origin: 'http://127.0.0.1:1' })).status).toBe(403)
    expect((await write({ origin: server.url })).status).toBe(201)
  })

  test('the cookie of another port is not ours', async () => {
    const cookie = (await cookieFor({ token: TOKEN })).replace(/-\d+=/, '-1=')
    expect((await fetch(`${server.url}/v1/sessions`, { headers: { cookie } })).status).toBe(401)
  })

  test('an expired cookie is refused with the reason', async () => {
    const cookie = await cookieFor({ token: TOKEN })
    now += SIGN_IN_MS
    const response = await fetch(`${server.url}/v1/sessions`, { headers: { cookie } })
    expect(response.status).toBe(401)
    expect(await detail(response)).toBe('your sign-in has expired')
  })

  test('the expiry of a cookie cannot be moved', async () => {
    const cookie = (await cookieFor({ token: TOKEN })).replace(/=\d{13}/, `=${now + 2 * SIGN_IN_MS}`)
    expect((await fetch(`${server.url}/v1/sessions`, { headers: { cookie } })).status).toBe(401)
  })

  test('removing the token ends the sign-in, with the reason', async () => {
    const cookie = await cookieFor({ token: GUEST })
    known = tokens.slice(0, 1)
    const response = await fetch(`${server.url}/v1/sessions`, { headers: { cookie } })
    known = tokens
    expect(response.status).toBe(401)
    expect(await detail(response)).toBe('the token you signed in with was removed or replaced')
  })

  test('signing out removes the cookie', async () => {
    const cookie = await cookieFor({ token: TOKEN })
    const response = await post('/v1/sign-out', {}, { cookie, origin: server.url })
    expect(response.headers.get('set-cookie')).toMatch(/^mainstem-\d+=; Path=\/; Max-Age=0;/)
  })

  test('a server without tokens needs no sign-in', async () => {
    await using open = await startGateway({ tokens: undefined })
    const me = await fetch(`${open.url}/v1/server`)
    expect(await me.json()).toMatchObject({ principal: 'local', authentication: false })
  })
})
