import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const home = realpathSync(mkdtempSync(join(tmpdir(), 'open-')))
afterAll(() => rmSync(home, { recursive: true }))

const run = promisify(execFile)
const { PATH, NODE_COMPILE_CACHE } = process.env
const environment = { PATH, NODE_COMPILE_CACHE, MAINSTEM_HOME: home }
const open = (...args: string[]) => run(process.execPath, [MAIN, 'open', ...args], { env: environment })

test('prints a link whose ticket signs in once', async () => {
  const config = await loadConfig({ flags: { port: 0, cwd: home }, environment, cwd: home })
  const server = await serve({ config, report: () => undefined })
  try {
    const { port } = new URL(server.url)
    const { stdout } = await open('--print', '--port', port)
    const link = new URL(stdout.trim())
    expect(link.origin).toBe(server.url)
    const signIn = () =>
      fetch(`${server.url}/v1/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ticket: link.hash.replace('#ticket=', '') }),
      })
    expect((await signIn()).status).toBe(204)
    expect((await signIn()).status).toBe(401)
  } finally {
    await server.stop()
  }
})

test('names the address and the way out when no server answers', async () => {
  await expect(open('--print', '--port', '1')).rejects.toMatchObject({
    stderr: expect.stringMatching(/no server answers at http:\/\/127\.0\.0\.1:1 .*\n.*mainstem serve/),
  })
})
