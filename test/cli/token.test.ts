import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import { MAIN } from '../built-program.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'token-')))
afterAll(() => rmSync(home, { recursive: true }))

const run = promisify(execFile)
const { PATH, NODE_COMPILE_CACHE } = process.env
const environment = { PATH, NODE_COMPILE_CACHE, MAINSTEM_HOME: home }
const token = (...args: string[]) => run(process.execPath, [MAIN, 'token', ...args], { env: environment })

test('a token by name is a principal of a server that is running, until it is removed', {
  timeout: 60_000,
}, async () => {
  const config = await loadConfig({ flags: { port: 0, cwd: home }, environment, cwd: home })
  const reported: unknown[] = []
  const server = await serve({ config, report: (thrown) => reported.push(thrown) })
  try {
    const ask = (bearer: string, init: RequestInit = {}) =>
      fetch(`${server.url}/v1/sessions`, {
        ...init,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      })
    const first = readFileSync(join(home, 'token'), 'utf8').trim()
    const added = (await token('add', 'ci')).stdout.trim()
    expect((await token('list')).stdout).toBe('local\nci\n')
    const created = await ask(added, { method: 'POST', body: '{"agent":"echo"}' })
    expect(created.status).toBe(201)
    expect(await (await ask(added)).json()).toMatchObject({ sessions: [{ principal: 'ci', agent: 'echo' }] })
    expect(await (await ask(first)).json()).toEqual({ sessions: [] })
    await token('remove', 'ci')
    expect((await ask(added)).status).toBe(401)
    expect((await ask(first)).status).toBe(200)
  } finally {
    await server.stop()
  }
  expect(reported).toEqual([])
})

test.each([
  [['add'], 2, 'give a name'],
  [['add', 'Not A Name'], 2, 'lower-case letters'],
  [['remove', 'nobody'], 4, 'no token nobody'],
  [['steal', 'ci'], 2, 'Allowed choices are add, list, remove'],
])('token %j is refused', { timeout: 30_000 }, async (args, code, message) => {
  const refused = token(...args)
  await expect(refused).rejects.toMatchObject({ code, stderr: expect.stringContaining(message) })
})
