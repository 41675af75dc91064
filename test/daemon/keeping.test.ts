import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'keeping-')))
})
afterEach(() => rmSync(home, { recursive: true }))

async function start(file: object = {}) {
  writeFileSync(join(home, 'config.json'), JSON.stringify(file))
  const flags = { port: 0, data: home, cwd: home, config: join(home, 'config.json') }
  const config = await loadConfig({ flags, environment: { MAINSTEM_HOME: home }, cwd: home })
  const reported: unknown[] = []
  const server = await serve({ config, report: (thrown) => void reported.push(thrown) })
  const token = server.tokenFile?.token ?? ''
  const ask = (path: string, body?: object, method = body ? 'POST' : 'GET') =>
    fetch(server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
  return { server, token, ask, reported }
}

test('the token of the server appears in no log', async () => {
  const { server, token, ask, reported } = await start()
  const created = await ask('/v1/sessions', { agent: 'echo', prompt: `my token is ${token}` })
  const { id } = (await created.json()) as { id: string }
  const exported = async () => (await ask(`/v1/sessions/${id}/export`)).text()
  await expect.poll(exported).toContain('turn.completed')
  const text = await exported()
  expect(text).not.toContain(token)
  expect(text).toContain(`my token is [masked ${token.length}]`)
  await server.stop()
  expect(reported).toEqual([])
})

test('a session that ended too long ago is gone after the next start', async () => {
  const first = await start()
  const created = await first.ask('/v1/sessions', { agent: 'echo' })
  const { id } = (await created.json()) as { id: string }
  await first.ask(`/v1/sessions/${id}/end`, undefined, 'POST')
  await first.server.stop()
  const second = await start({ retention: { sessionDays: 1e-9 } })
  await expect.poll(async () => (await second.ask(`/v1/sessions/${id}`)).status).toBe(404)
  expect(await (await second.ask('/v1/usage')).json()).toMatchObject({ total: { sessions: 1 } })
  await second.server.stop()
  expect([...first.reported, ...second.reported]).toEqual([])
})
