import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newToken } from '../../src/daemon/token.ts'
import { Home } from './mainstem-process.ts'

const home = Home.withAskingAgent()
beforeAll(() => home.mainstem(['ls']))
afterAll(() => home[Symbol.asyncDispose]())

/** What the command prints: the message with its code, and the advice. */
async function refusal(...args: readonly string[]): Promise<{ code: number | null; err: string }> {
  const { code, err, out } = await home.mainstem(args)
  expect(out).toBe('')
  return { code, err }
}

describe('the error of a situation names the fix', () => {
  test('a port in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const data = join(home.path, 'port')
    expect(await refusal('serve', '--port', port, '--data', data)).toEqual({
      code: 1,
      err: `mainstem: port ${port} of 127.0.0.1 is in use (conflict)\nStop the process that uses it, or pass another --port; 0 takes a free one.\n`,
    })
    taken.close()
  })

  test('a store that another process has open', async () => {
    const { code, err } = await refusal('serve', '--port', '0')
    expect(err).toContain('another process has this store open')
    expect(err).toContain('Use that server, stop it (`mainstem daemon stop`')
    expect(code).toBe(1)
  })

  test('an agent that is not logged in', async () => {
    const { code, out, err } = await home.mainstem(['run', 'claude', 'login'])
    expect(err).toContain('Invalid API key · Please run /login (authentication_failed)')
    expect(err).toContain('claude auth login')
    expect({ code, out }).toEqual({ code: 6, out: '' })
  })

  test.each([
    [
      ['--sandbox', 'workspace-write'],
      'With approval ask, it accepts the sandbox none, read-only or full-access.',
    ],
    [
      ['--approval', 'auto-edit', '--sandbox', 'read-only'],
      'With approval auto-edit, it accepts the sandbox none or full-access. With sandbox read-only, it accepts the approval ask, ask-dangerous or auto-all.',
    ],
  ])('a policy that the agent cannot enforce: %j', async (policy, accepted) => {
    const { code, err } = await refusal('run', 'claude', 'hi', ...policy)
    expect(err).toMatch(/is not supported by claude: .+ \(unsupported_option\)\n/)
    expect(err).toContain(`${accepted}\n`)
    expect(code).toBe(2)
  })

  test('a configuration with a line that is wrong', async () => {
    const config = join(home.path, 'wrong.json')
    writeFileSync(config, '{\n  "timeouts": { "drainMs": 1 },\n  "agnts": {}\n}')
    const { code, err } = await refusal('ls', '--config', config)
    expect(err).toContain(`configuration (${config}, line 3): `)
    expect(code).toBe(2)
    writeFileSync(config, '{\n  "timeouts": {},\n')
    expect((await refusal('ls', '--config', config)).err).toMatch(
      /wrong\.json\): not valid JSON: .*\(line 3 /,
    )
  })

  test('a Host that the server does not have', async () => {
    const address = readFileSync(join(home.data, 'address'), 'utf8').trim()
    const call = request(`${address}/v1/sessions`, { headers: { host: 'agents.example.com' } }).end()
    const [response] = await once(call, 'response')
    expect(response.statusCode).toBe(403)
    expect(JSON.parse(await text(response))).toMatchObject({
      detail: 'this Host is not allowed: "agents.example.com"',
      advice: expect.stringContaining('have the operator add the name to `hosts`'),
    })
  })

  test('a token that the server does not accept', async () => {
    const file = join(home.data, 'token')
    copyFileSync(file, join(home.path, 'token'))
    writeFileSync(file, `${newToken()}\n`)
    const { code, err } = await refusal('ls')
    const port = new URL(readFileSync(join(home.data, 'address'), 'utf8').trim()).port
    const opened = await refusal('open', '--print', '--port', port)
    const { out } = await home.mainstem(['doctor'])
    copyFileSync(join(home.path, 'token'), file)
    expect(err).toContain(
      `the server that runs does not accept the token in ${file} (unauthorized)\nStop that`,
    )
    expect(code).toBe(7)
    expect(opened.err).toContain(`this token is not valid at http://127.0.0.1:${port} (unauthorized)`)
    expect(opened.code).toBe(7)
    expect(out).toContain('✖ daemon     cannot be used: the server that runs does not accept the token')
  })

  test.each([
    ['a data directory that others can write to', 0o777, undefined, 'chmod 700'],
    ['a token that is none', 0o700, 'short', 'Delete it; the next start creates a token.'],
  ])('%s', async (name, mode, token, fix) => {
    const data = join(home.path, name.replaceAll(' ', '-'))
    mkdirSync(data)
    chmodSync(data, mode)
    if (token !== undefined) writeFileSync(join(data, 'token'), token, { mode: 0o600 })
    const { code, err } = await refusal('ls', '--data', data)
    expect(err).toContain(fix)
    expect(code).toBe(5)
  })

  test('a full store', async () => {
    const data = join(home.path, 'small')
    mkdirSync(data, { mode: 0o700 })
    const config = join(home.path, 'small.json')
    writeFileSync(config, JSON.stringify({ data, maxBytes: 200_000 }))
    const prompt = 'too long '.repeat(50_000)
    const { code, out, err } = await home.mainstem(['run', 'echo', '--config', config], prompt)
    expect(err).toMatch(/database or disk is full \(storage_failed\)\n.*disk space/)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    await home.mainstem(['daemon', 'stop', '--config', config])
  })
})
