import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import { MainstemError } from '../../src/model/index.ts'
import type { Store } from '../../src/stores/store.ts'

const home = mkdtempSync(join(tmpdir(), 'starting-'))
afterAll(() => rmSync(home, { recursive: true }))

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('a server that recovers lives, answers 503, and serves when it has recovered', async () => {
  const port = await freePort()
  const config = await loadConfig({
    flags: { port, data: home, cwd: home, auth: false },
    environment: {},
    cwd: home,
  })
  const recovering = Promise.withResolvers<void>()
  const recovered = Promise.withResolvers<void>()
  const slow = (store: Store): Store => {
    const records = store.records.bind(store)
    store.records = async (query) => {
      recovering.resolve()
      await recovered.promise
      return records(query)
    }
    return store
  }
  const starting = serve({
    config,
    report: (thrown) => {
      throw thrown
    },
    between: { store: slow, driver: (driver) => driver },
  })
  await recovering.promise
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
  expect(await statusOf('/healthz')).toBe(200)
  expect(await statusOf('/readyz')).toBe(503)
  expect(await statusOf('/v1/sessions')).toBe(503)
  recovered.resolve()
  const server = await starting
  expect(await statusOf('/readyz')).toBe(200)
  expect(await statusOf('/v1/sessions')).toBe(200)
  await server.stop()
})

test('a server closes its port when its recovery fails', async () => {
  const port = await freePort()
  const config = await loadConfig({
    flags: { port, data: home, cwd: home, auth: false },
    environment: {},
    cwd: home,
  })
  const broken = (store: Store): Store => {
    store.records = () => Promise.reject(new MainstemError('storage_failed', 'unreadable'))
    return store
  }
  const starting = serve({
    config,
    report: () => undefined,
    between: { store: broken, driver: (driver) => driver },
  })
  await expect(starting).rejects.toMatchObject({ message: 'unreadable' })
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed')
})

test('a database at the limit of the configuration is reported by /readyz', async () => {
  const port = await freePort()
  const config = await loadConfig({
    flags: { port, data: join(home, 'limited'), cwd: home, auth: false },
    environment: {},
    cwd: home,
  })
  const reported: unknown[] = []
  const server = await serve({
    config: { ...config, maxBytes: 4096 },
    report: (thrown) => reported.push(thrown),
  })
  // The check writes nothing before a commit has failed.
  const body = JSON.stringify({ agent: 'echo', prompt: 'x'.repeat(200_000) })
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${server.url}/v1/sessions`, { method: 'POST', headers, body })).status).toBe(503)
  const response = await fetch(`${server.url}/readyz`)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ code: 'storage_failed' })
  // The commit that failed is reported with its reason. The regular check may find the failure before or after it.
  const full = 'cannot write to the store: database or disk is full'
  const limited = expect.stringContaining('is as large as maxBytes allows')
  expect(reported).toContainEqual(expect.objectContaining({ message: full }))
  for (const thrown of reported)
    expect(thrown).toMatchObject({ code: 'storage_failed', message: expect.toBeOneOf([full, limited]) })
  await server.stop()
})

test('a list of tokens that others could read is refused at the start, with the fix', async () => {
  const data = join(home, 'open')
  const file = join(data, 'tokens.json')
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(file, '{"tokens":[]}', { mode: 0o644 })
  const config = await loadConfig({ flags: { port: 0, data, cwd: home }, environment: {}, cwd: home })
  await expect(serve({ config, report: () => undefined })).rejects.toMatchObject({
    message: `${file} is open to other users`,
    advice: `Run: chmod 600 ${file}`,
  })
})
