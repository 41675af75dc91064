import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MainstemClient } from '../../src/client/index.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import type { Server } from '../../src/daemon/server.ts'
import { addToken, operatorOf } from '../daemon/add-token.ts'
import { logIn } from './log-in.ts'
import { ASKING_AGENT, Home } from './mainstem-process.ts'
import { ownCertificate, TlsProxy } from './tls-proxy.ts'

const place = realpathSync(mkdtempSync(join(tmpdir(), 'remote-')))
const root = join(place, 'projects')
const data = join(place, 'data')
const identity = ownCertificate(place)
let server: Server
let proxy: TlsProxy
let url: string
let ann: string
const laptop = new Home()

beforeAll(async () => {
  mkdirSync(join(root, 'api'), { recursive: true })
  const config = await loadConfig({ flags: { data, cwd: root, port: 0 }, environment: {}, cwd: root })
  const agents = { claude: { command: [process.execPath, ASKING_AGENT] } }
  server = await serve({
    config: { ...config, agents, timeouts: { ...config.timeouts, drainMs: 10 } },
    report: (thrown) => console.error(thrown),
  })
  proxy = new TlsProxy([Number(new URL(server.url).port)], identity)
  url = await proxy.listen()
  ann = await addToken(operatorOf(server), 'ann')
})
afterAll(async () => {
  await laptop[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await server.stop()
  rmSync(place, { recursive: true })
})

const annAtThePage = () => new MainstemClient({ baseUrl: server.url, token: ann })
const contexts = () => join(laptop.data, 'contexts.json')

const loggedIn = () => logIn(laptop, { url, ca: identity.file }, annAtThePage())

describe('the command line of another machine', () => {
  test('logs in by a link, and gets a token of its own that only its user can read', async () => {
    expect(await loggedIn()).toBe(
      `logged in to ${url} as ann; commands now use the context ${new URL(url).host}\n`,
    )
    expect(statSync(contexts()).mode & 0o777).toBe(0o600)
    const { contexts: list } = JSON.parse(readFileSync(contexts(), 'utf8'))
    const [{ token }] = list
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(token).not.toBe(ann)
    expect(readFileSync(join(data, 'log/mainstem.db'), 'latin1')).not.toContain(token)
    expect((await laptop.mainstem(['context'])).out).toContain(`${new URL(url).host} *`)
    const refused = new MainstemClient({ baseUrl: server.url, token }).addLogin({
      digest: 'a'.repeat(64),
      name: 'more',
    })
    await expect(refused).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('works with sessions of the server as with its own', async () => {
    const { out, err, code } = await laptop.mainstem(['run', 'echo', 'hi', '--name', 'first'])
    expect({ out, code }, err).toEqual({ out: 'hi\n', code: 0 })
    const [record] = (await annAtThePage().sessions()).sessions
    expect(record).toMatchObject({ name: 'first', principal: 'ann', cwd: root })
    expect((await laptop.mainstem(['ls'])).out).toContain('first')
    expect((await laptop.mainstem(['attach', 'first'])).out).toBe('hi\n')
    expect((await laptop.mainstem(['send', 'first', 'more'])).out).toBe('more\n')
    expect((await laptop.mainstem(['wait', 'first'])).out).toBe('completed\n')
    expect((await laptop.mainstem(['logs', 'first', '--json'])).out).toContain('"session.started"')
    expect((await laptop.mainstem(['logs', 'first', '--raw'])).code).toBe(0)
    expect((await laptop.mainstem(['usage', '--json'])).code).toBe(0)
    expect((await laptop.mainstem(['agents', '--json'])).out).toContain('"echo"')
    const exported = await laptop.mainstem(['export', 'first'])
    expect(exported.out).toContain('{"end":')
    expect((await laptop.mainstem(['stop', 'first', '--end'])).out).toContain('first ended')
    expect((await laptop.mainstem(['rm', 'first'])).out).toBe('removed first\n')
    expect((await laptop.mainstem(['import', '-'], exported.out)).err).toContain('imported')
    // The server of this machine was never started.
    expect((await laptop.mainstem(['daemon'])).out).toBe('no daemon runs\n')
  })

  test('answers a request of the server', async () => {
    await laptop.mainstem(['run', 'claude', 'permission', '--detach', '--name', 'asking'])
    const listed = async () => (await laptop.mainstem(['requests'])).out
    await expect.poll(listed).toContain('requests allow')
    const [reference = ''] = /[0-9a-f]{8}\/\S+@[0-9a-f]{16}/.exec(await listed()) ?? []
    expect((await laptop.mainstem(['requests', 'allow', reference])).code).toBe(0)
    expect((await laptop.mainstem(['wait', 'asking'])).out).toBe('completed\n')
    // The tool ran on the server.
    expect(readFileSync(join(root, 'ran.log'), 'utf8')).toContain('Bash rm -rf build')
  }, 30_000)

  test('names directories of the server, and says so where one of its own is meant', async () => {
    const below = await laptop.mainstem(['run', 'echo', 'x', '-C', 'api', '--detach'])
    expect((await annAtThePage().session(below.out.trim())).cwd).toBe(join(root, 'api'))
    const { code, err } = await laptop.mainstem(['run', 'echo', 'x', '-C', laptop.path])
    expect(code).toBe(5)
    expect(err).toContain(
      `--cwd: ${laptop.path} is not a directory that ${url} allows; it exists on this machine`,
    )
    expect(err).toContain(`below ${root}, or pass \`--context local\``)
  })

  test('uses the server that an option names, with the token of a program', async () => {
    const local = await laptop.mainstem(['ls', '--json', '--context', 'local'])
    expect(local).toMatchObject({ out: '', code: 0 })
    await laptop.mainstem(['daemon', 'stop'])
    expect((await laptop.mainstem(['ls', '--server', url])).code).toBe(0)
    const both = await laptop.mainstem(['ls', '--server', url, '--data', laptop.data])
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining('several options select a server') })
    const near = await laptop.mainstem(['ls', '--context', 'localhsot'])
    expect(near).toMatchObject({ code: 4, err: expect.stringContaining('there is no context') })
    const plain = await laptop.mainstem(['ls', '--server', server.url])
    expect(plain).toMatchObject({ code: 7, err: expect.stringContaining('you are not logged in to') })
    laptop.env.MAINSTEM_TOKEN = ann
    expect((await laptop.mainstem(['ls', '--server', server.url])).code).toBe(0)
    // The certificate of the login counts for the token of the program too.
    const { code, err } = await laptop.mainstem(['ls', '--server', url])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    delete laptop.env.MAINSTEM_TOKEN
  })

  test('passes the calls of a program to the server with the token of the login, and of no other', async () => {
    const call = `${JSON.stringify({ id: 1, method: 'GET', path: '/v1/server' })}\n{"id":1,"more":true}\n`
    const passed = laptop.startWithInput(['stdio', '--url', url])
    passed.stdin.write(call)
    let shown = ''
    for await (const piece of passed.stdout.setEncoding('utf8')) {
      shown += piece
      if (shown.includes('principal')) break
    }
    passed.stdin.end()
    expect(shown).toMatch(/"status":200.*principal\\":\\"ann/s)
    for (const [to, message] of [
      [server.url, 'you are not logged in to'],
      ['http://agents.example.com', 'others on the network can read the token'],
    ] as const) {
      const refused = await laptop.mainstem(['stdio', '--url', to], call)
      expect(refused).toMatchObject({ out: '', err: expect.stringContaining(message) })
      expect(refused.code).not.toBe(0)
    }
  })

  test('a login that replaces one removes it from the server', async () => {
    const [{ token }] = JSON.parse(readFileSync(contexts(), 'utf8')).contexts
    await loggedIn()
    expect(await annAtThePage().logins()).toHaveLength(1)
    const old = new MainstemClient({ baseUrl: server.url, token })
    await expect(old.server()).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('lists its logins, and forgets and chooses contexts', async () => {
    expect((await laptop.mainstem(['logins'])).out).toMatch(/ \*\s+ann/)
    const name = new URL(url).host
    expect((await laptop.mainstem(['context', 'use', 'local'])).out).toContain('the server of this machine')
    expect((await laptop.mainstem(['context', 'use', name])).out).toBe(`commands now use ${url}\n`)
  })

  test('a removed login ends at once, with the way back in', async () => {
    const [login] = (await annAtThePage().logins()).filter(({ principal }) => principal === 'ann')
    await annAtThePage().removeLogin(login?.id ?? '')
    const { code, err } = await laptop.mainstem(['ls'])
    expect(code).toBe(7)
    expect(err).toContain(`${url} does not accept the token`)
    expect(err).toContain(`mainstem login ${url}`)
    await loggedIn()
    expect((await laptop.mainstem(['ls'])).code).toBe(0)
  })

  test('logs out: the token ends on the server, and the context is gone', async () => {
    const { contexts: list } = JSON.parse(readFileSync(contexts(), 'utf8'))
    expect((await laptop.mainstem(['logout'])).out).toBe(`logged out of ${url}\n`)
    const gone = new MainstemClient({ baseUrl: server.url, token: list[0].token })
    await expect(gone.server()).rejects.toMatchObject({ code: 'unauthorized' })
    expect(await annAtThePage().logins()).toEqual([])
    expect((await laptop.mainstem(['context'])).out).not.toContain(url)
  })

  test('logs in with a token that it reads from standard input', async () => {
    const { out, code } = await laptop.mainstem(
      ['login', url, '--ca', identity.file, '--token-stdin'],
      `${ann}\n`,
    )
    expect({ out, code }).toMatchObject({ code: 0, out: expect.stringContaining('as ann') })
    const { err } = await laptop.mainstem(['logout'])
    expect(err).toContain('The token is still valid')
    const wrong = await laptop.mainstem(['login', url, '--ca', identity.file, '--token-stdin'], 'nonsense')
    expect(wrong).toMatchObject({ code: 7, err: expect.stringContaining('does not accept the token') })
  })
})

describe('a server that cannot be used is explained', () => {
  const complaint = async (args: string[], input = '') => {
    const { code, err } = await laptop.mainstem(['login', ...args, '--token-stdin'], input || ann)
    expect(code).not.toBe(0)
    return err
  }

  test('by its certificate', async () => {
    const err = await complaint([url])
    expect(err).toContain('its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)')
    expect(err).toContain('--ca')
    const other = url.replace('localhost', '127.0.0.1')
    expect(await complaint([other, '--ca', identity.file])).toContain('belongs to another name')
  })

  test('by its address', async () => {
    expect(await complaint(['https://localhost:1'])).toContain('nothing listens there (ECONNREFUSED)')
    expect(await complaint(['https://no-such-host.invalid'])).toMatch(
      /its name (is unknown|cannot be looked up)/,
    )
    expect(await complaint([url.replace('https', 'http')])).not.toContain('undefined')
    expect(await complaint([server.url.replace('http', 'https')])).toContain('does not speak TLS')
    expect(await complaint(['http://agents.example.com'])).toContain(
      'others on the network can read the token',
    )
    expect(await complaint(['ftp://x'])).toContain('is not the URL of a server')
    expect(await complaint(['https://a:b@x'])).toContain('contains a name or a password')
  })

  test.each([
    [404, {}, 'no page', 'is not a Mainstem server: it answered with status 404'],
    [200, { 'content-type': 'text/html' }, '<html>', 'is not a Mainstem server: it answered with a page'],
    [302, { location: 'https://sso.example.com' }, '', 'sends us to https://sso.example.com'],
    [413, { 'content-type': 'text/html' }, '<html>', 'refuses a request of this size (status 413)'],
    [502, {}, '', 'has no server that is ready (status 502)'],
  ])('by what it answers: %s', async (status, headers, body, message) => {
    const other = createServer((_, response) => response.writeHead(status, headers).end(body)).listen(
      0,
      '127.0.0.1',
    )
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    expect(await complaint([`http://127.0.0.1:${port}`])).toContain(message)
    other.close()
  })

  test.each([
    ['0.0.1', 'has the older version 0.0.1'],
    ['99.0.0', 'has the newer version 99.0.0'],
  ])('by its version: %s', async (version, message) => {
    const other = createServer((request, response) => {
      const isHealth = request.url === '/healthz'
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isHealth ? { status: 'ok' } : { version, principal: 'ann' }))
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const err = await complaint([`http://127.0.0.1:${port}`])
    expect(err).toContain(message)
    expect(err).toContain(`mainstem@${version}`)
    other.close()
  })
})
