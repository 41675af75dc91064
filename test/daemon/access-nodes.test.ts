import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MainstemClient } from '../../src/client/index.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import type { Server } from '../../src/daemon/server.ts'
import { newToken } from '../../src/daemon/token.ts'
import { tokenOf } from '../../src/gateway/http/auth.ts'
import { newSchema } from '../postgres/database.ts'
import { addToken, operatorOf } from './add-token.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'access-nodes-')))
const servers: Server[] = []
let n1: Server
let n2: Server

beforeAll(async () => {
  const store = await newSchema()
  mkdirSync(join(home, 'work'))
  const start = async (name: string) => {
    const flags = { data: join(home, name), cwd: join(home, 'work'), port: 0, store }
    const config = await loadConfig({ flags, environment: {}, cwd: home })
    const server = await serve({
      config: { ...config, node: { ...config.node, name }, timeouts: { ...config.timeouts, drainMs: 10 } },
      report: (thrown) => console.error(thrown),
    })
    servers.push(server)
    return server
  }
  n1 = await start('n1')
  n2 = await start('n2')
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  rmSync(home, { recursive: true })
})

const at = ({ url }: Server, token: string) => new MainstemClient({ baseUrl: url, token })
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    ({ code: reason }) => reason,
  )

/** Follows a session until its stream breaks off and cannot be resumed. */
async function ended(client: MainstemClient, id: string, begun: () => void): Promise<string> {
  return code(
    (async () => {
      for await (const _ of client.entries(id)) begun()
    })(),
  )
}

test('a login that is allowed on one node works on the other', async () => {
  const ann = await addToken(operatorOf(n1), 'ann')
  const laptop = newToken()
  expect(await code(at(n2, laptop).server())).toBe('unauthorized')
  await at(n1, ann).addLogin({ name: 'laptop', digest: tokenOf('', laptop).digest })
  await expect.poll(() => code(at(n2, laptop).server())).toBe('ok')
  expect(await at(n2, laptop).logins()).toMatchObject([{ name: 'laptop', principal: 'ann', current: true }])
})

test('a token that is removed on one node ends on both, with its logins and streams', async () => {
  const bob = await addToken(operatorOf(n2), 'bob')
  const laptop = newToken()
  await at(n2, bob).addLogin({ name: 'laptop', digest: tokenOf('', laptop).digest })
  await expect.poll(() => code(at(n1, laptop).server())).toBe('ok')
  const { id } = await at(n1, bob).begin({ agent: 'echo' })
  const streams = [n1, n2].flatMap((node) =>
    [bob, laptop].map((token) => {
      const begun = Promise.withResolvers<void>()
      return { begun: begun.promise, ended: ended(at(node, token), id, begun.resolve) }
    }),
  )
  await Promise.all(streams.map(({ begun }) => begun))
  await operatorOf(n2).removeToken('bob')
  const ends = await Promise.all(streams.map((stream) => stream.ended))
  expect(ends).toEqual(['unauthorized', 'unauthorized', 'unauthorized', 'unauthorized'])
})

test('a grant of one node counts on the other, for what it covers and as long as it is there', async () => {
  const [cid, bot] = [await addToken(operatorOf(n1), 'cid'), await addToken(operatorOf(n1), 'bot')]
  await expect.poll(() => code(at(n2, bot).server())).toBe('ok')
  const { id } = await at(n1, cid).begin({ agent: 'echo' })
  expect(await code(at(n2, bot).session(id))).toBe('session_not_found')
  await operatorOf(n1).addGrant({ to: 'bot', of: 'cid' })
  await expect.poll(() => code(at(n2, bot).session(id))).toBe('ok')
  expect(await at(n2, cid).grants()).toMatchObject([{ to: 'bot', of: 'cid', by: 'local' }])
  expect(await code(at(n2, bot).prompt(id, 'x'))).toBe('session_not_found')
  expect(await code(at(n2, bot).end(id))).toBe('session_not_found')
  const begun = Promise.withResolvers<void>()
  const stream = ended(at(n2, bot), id, begun.resolve)
  await begun.promise
  await operatorOf(n1).removeGrant({ to: 'bot', of: 'cid' })
  expect(await stream).toBe('session_not_found')
})

test('a ticket of one node is used once, at any node', async () => {
  const dan = await addToken(operatorOf(n1), 'dan')
  await expect.poll(() => code(at(n2, dan).server())).toBe('ok')
  const get = async ({ url }: Server, ticket: string) => (await fetch(`${url}/docs?ticket=${ticket}`)).status
  for (const [issuer, other] of [
    [n1, n2],
    [n2, n1],
  ] as const) {
    const ticket = await at(issuer, dan).ticket()
    expect([await get(other, ticket), await get(issuer, ticket), await get(other, ticket)]).toEqual([
      200, 401, 401,
    ])
    const raced = await at(issuer, dan).ticket()
    const both = await Promise.all([get(n1, raced), get(n2, raced)])
    expect(both.sort()).toEqual([200, 401])
  }
})
