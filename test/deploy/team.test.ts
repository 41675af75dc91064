import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MainstemClient } from '../../src/client/index.ts'
import { Home, type Ran } from '../cli/mainstem-process.ts'
import { ownCertificate, TlsProxy } from '../cli/tls-proxy.ts'
import { blocksOf, pages } from '../docs/pages.ts'
import { Deployment } from './deployment.ts'
import { service, unit } from './files.ts'

const guide = pages.find(({ path }) => path === 'docs/guides/run-for-a-team.md')
if (!guide) throw new Error('the guide is missing')
const blocks = blocksOf(guide)

/** The commands of the guide, word by word, in their order; those of the system are run by the plan of the unit. */
const commands = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => [...text.matchAll(/^mainstem (.+)$/gm)].map(([, line = '']) => line))

const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

const place = mkdtempSync(join(tmpdir(), 'team-'))
const identity = ownCertificate(place)
const laptop = new Home()
let server: Deployment
let proxy: TlsProxy
let url: string

beforeAll(async () => {
  const config = blocks.find(({ language }) => language === 'json')?.text ?? ''
  const files = { '/var/lib/mainstem/config.json': config }
  const plan = service(unit)
  server = await new Deployment({
    ...plan,
    files,
    directories: [...plan.directories, '/srv/mainstem/api'],
  }).listening()
  proxy = new TlsProxy([Number(server.port)], identity)
  url = await proxy.listen()
})
afterAll(async () => {
  await laptop[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  rmSync(place, { recursive: true })
})

/** Allows the login that the terminal shows, as the page does for a person who is signed in. */
async function logIn(words: readonly string[], token: string): Promise<Ran> {
  const child = laptop.start([...words, '--ca', identity.file])
  const page = new MainstemClient({ baseUrl: `http://127.0.0.1:${server.port}`, token })
  let err = ''
  for await (const piece of child.stderr.setEncoding('utf8')) {
    err += piece
    const [, digest] = /#login=([0-9a-f]{64})&/.exec(err) ?? []
    if (digest === undefined) continue
    await page.addLogin({ digest, name: 'laptop' })
    break
  }
  const [out, [code]] = await Promise.all([child.stdout.setEncoding('utf8').toArray(), once(child, 'exit')])
  return { code, out: out.join(''), err }
}

test('every command of the guide works in its order, on the server and on a laptop', async () => {
  const tokens: string[] = []
  const printed = new Map<string, string>()
  let isOnLaptop = false
  for (const line of commands) {
    const words = wordsOf(line.replace('https://agents.example.com', url))
    const [name = ''] = words
    isOnLaptop ||= name === 'login'
    if (name === 'backup') isOnLaptop = false
    const ran =
      name === 'login'
        ? await logIn(words, tokens[0] ?? '')
        : isOnLaptop
          ? await laptop.mainstem(words)
          : await server.mainstem(
              ...words.map((word) => word.replace('/var/lib', join(server.root, 'var/lib'))),
            )
    expect(ran.code, `${line}: ${ran.err}`).toBe(0)
    if (line.startsWith('token add')) tokens.push(ran.out.trim())
    printed.set(line, ran.out)
  }
  expect(commands).toHaveLength(printed.size)
  expect(printed.get('token list')).toBe('local\nann\nben\n')
  expect(printed.get('attach hello')).toBe('hello from my laptop\n')
  expect(printed.get('ls')).toContain('hello')
  expect(printed.get('logins')).toContain('laptop *')
  expect(existsSync(join(server.root, 'var/lib/mainstem/backup/mainstem.db'))).toBe(true)
  const ann = new MainstemClient({ baseUrl: `http://127.0.0.1:${server.port}`, token: tokens[0] ?? '' })
  const [hello] = (await ann.sessions()).sessions
  expect(hello).toMatchObject({ name: 'hello', principal: 'ann', cwd: join(server.root, 'srv/mainstem') })
  expect(await ann.logins()).toEqual([])
}, 60_000)
