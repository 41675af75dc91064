import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { socketIn } from '../../src/daemon/local-socket.ts'
import { serve } from '../../src/daemon/serve.ts'
import { MAIN } from '../built-program.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'open-')))
afterAll(() => rmSync(home, { recursive: true }))

const run = promisify(execFile)
const { PATH, NODE_COMPILE_CACHE } = process.env
const environment = { PATH, NODE_COMPILE_CACHE, MAINSTEM_HOME: home }
const open = (...args: string[]) => run(process.execPath, [MAIN, 'open', ...args], { env: environment })

test('prints a link whose ticket signs in once', async () => {
  const config = await loadConfig({ flags: { port: 0, cwd: home }, environment, cwd: home })
  const server = await serve({ config, report: () => undefined, socket: socketIn(config.data) })
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

test('sends neither the token nor a ticket to another program at the address', async () => {
  const heard: string[] = []
  const stranger = createServer(({ headers, url }, response) => {
    heard.push(`${url} ${headers.authorization}`)
    response.end('{"ticket":"t"}')
  }).listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  const { port } = stranger.address() as AddressInfo
  const config = await loadConfig({ flags: { port: 0, cwd: home }, environment, cwd: home })
  const server = await serve({ config, report: () => undefined, socket: socketIn(config.data) })
  try {
    const refused = {
      stdout: '',
      stderr: expect.stringContaining(`listens at http://127.0.0.1:${port}: it listens at`),
    }
    await expect(open('--print', '--port', String(port))).rejects.toMatchObject(refused)
    const own = new URL(server.url).port
    await expect(open('--print', '--host', '192.0.2.1', '--port', own)).rejects.toMatchObject({ stdout: '' })
  } finally {
    await server.stop()
    stranger.close()
  }
  expect(heard).toEqual([])
})

test('names the address and the way out when no server answers', async () => {
  await expect(open('--print', '--port', '1')).rejects.toMatchObject({
    stderr: expect.stringMatching(/no server of .* listens at http:\/\/127\.0\.0\.1:1: .*\n.*mainstem serve/),
  })
})
