import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MainstemClient } from '../../src/client/index.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import type { Server } from '../../src/daemon/server.ts'
import type { AuditRecord } from '../../src/model/access.ts'
import { sharedBrowser } from '../../web/test/browser.ts'
import { buildPage, pageFolder } from '../../web/test/built-page.ts'
import { addToken, operatorOf } from '../daemon/add-token.ts'
import { newSchema } from '../postgres/database.ts'
import { logIn } from './log-in.ts'
import { ASKING_AGENT, Home } from './mainstem-process.ts'
import { ownCertificate, TlsProxy } from './tls-proxy.ts'

/** Two nodes on one PostgreSQL behind a proxy with TLS, and the machines of two people, a bot and the operator. */
const place = realpathSync(mkdtempSync(join(tmpdir(), 'team-')))
const root = join(place, 'projects')
const identity = ownCertificate(place)
const [ann, bob, bot, operator] = [new Home(), new Home(), new Home(), new Home()]
const nodes: Server[] = []
const contexts: BrowserContext[] = []
let proxy: TlsProxy
let url: string

const portOf = ({ url: own }: Server) => Number(new URL(own).port)
function first(): Server {
  const [node] = nodes
  if (!node) throw new Error('no node')
  return node
}
const page = (node: number, token: string) =>
  new MainstemClient({ baseUrl: nodes[node]?.url ?? '', token, client: 'page' })
/** Makes the proxy pass connections on to these nodes. */
const through = (...numbers: number[]) =>
  proxy.ports.splice(0, Infinity, ...nodes.filter((_, index) => numbers.includes(index)).map(portOf))

beforeAll(async () => {
  const pageDirectory = pageFolder()
  await buildPage(pageDirectory)
  const store = await newSchema()
  mkdirSync(root)
  const agents = { claude: { command: [process.execPath, ASKING_AGENT] } }
  for (const name of ['n1', 'n2']) {
    const flags = { data: join(place, name), cwd: root, port: 0, store }
    const config = await loadConfig({ flags, environment: {}, cwd: root })
    const node = { ...config.node, name }
    const timeouts = { ...config.timeouts, drainMs: 10 }
    nodes.push(
      await serve({
        config: { ...config, agents, node, timeouts },
        pageDirectory,
        report: (thrown) => console.error(thrown),
      }),
    )
  }
  proxy = new TlsProxy(nodes.map(portOf), identity)
  url = await proxy.listen()
  operator.env.MAINSTEM_TOKEN = first().tokenFile?.token
})
afterAll(async () => {
  for (const context of contexts) await context.close()
  for (const home of [ann, bob, bot, operator]) await home[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
  rmSync(place, { recursive: true })
})

/** A browser that is signed in at this address. */
async function browserAt(address: string, token: string): Promise<Page> {
  const context = await (await sharedBrowser()).newContext({
    viewport: { width: 1280, height: 800 },
    // Its certificate is the test's own.
    ignoreHTTPSErrors: true,
  })
  contexts.push(context)
  const opened = await context.newPage()
  await opened.goto(address)
  await opened.getByLabel('Or enter a token').fill(token)
  await opened.getByRole('button', { name: 'Sign in' }).click()
  await opened.getByRole('searchbox', { name: 'Filter sessions' }).waitFor()
  return opened
}

/** The references of the open requests that a machine sees, by the first characters of their session. */
async function requestsOf(home: Home): Promise<string[]> {
  const { out } = await home.mainstem(['requests'])
  return out.match(/[0-9a-f]{8}\/\S+@[0-9a-f]{16}/g) ?? []
}

async function auditOf(...flags: string[]): Promise<AuditRecord[]> {
  const { out } = await operator.mainstem(['audit', '--json', '--server', first().url, ...flags])
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test('two people and a bot work on two nodes, and the operator sees who did what', async () => {
  const tokens = {
    ann: await addToken(operatorOf(first()), 'ann'),
    bob: await addToken(operatorOf(first()), 'bob'),
    bot: await addToken(operatorOf(first()), 'bot'),
  }
  const granted = await operator.mainstem(['grant', 'add', 'bot', 'ann', '--server', first().url])
  expect(granted).toMatchObject({ err: '', code: 0 })

  // Both log in by a link, which the page of the other node allows. The bot has its token.
  await expect.poll(() => page(1, tokens.bob).server(), { timeout: 5_000 }).toBeDefined()
  through(0)
  await logIn(ann, { url, ca: identity.file }, page(1, tokens.ann))
  through(1)
  await logIn(bob, { url, ca: identity.file }, page(0, tokens.bob))
  const bots = await bot.mainstem(['login', url, '--ca', identity.file, '--token-stdin'], `${tokens.bot}\n`)
  expect(bots.out).toContain('as bot')

  // They start work on the first node.
  through(0)
  const started: Record<string, string> = {}
  for (const [home, name] of [
    [ann, 'deploy'],
    [bob, 'docs'],
  ] as const) {
    const { out, code, err } = await home.mainstem([
      'run',
      'claude',
      'permission',
      '--detach',
      '--name',
      name,
    ])
    expect(code, err).toBe(0)
    started[name] = out.trim()
  }
  const { deploy = '', docs = '' } = started
  expect((await ann.mainstem(['ls'])).out).toContain('deploy')
  expect((await ann.mainstem(['ls'])).out).not.toContain('docs')
  await expect.poll(() => requestsOf(bob)).toHaveLength(1)
  const [ofDocs = ''] = await requestsOf(bob)
  expect(ofDocs.startsWith(docs.slice(0, 8))).toBe(true)

  // Ann attaches on the second node, and the bot answers for her there. Nothing else is allowed to it.
  through(1)
  const attached = ann.mainstem(['attach', 'deploy'])
  await expect.poll(() => requestsOf(bot)).toHaveLength(1)
  const [ofDeploy = ''] = await requestsOf(bot)
  expect(ofDeploy.startsWith(deploy.slice(0, 8))).toBe(true)
  for (const refused of [
    ['requests', 'allow', ofDocs],
    ['send', docs, 'x'],
    ['send', deploy, 'x'],
    ['stop', deploy],
    ['rm', deploy],
    ['audit'],
  ]) {
    const { code, out } = await bot.mainstem(refused)
    expect({ refused, out, isRefused: code !== 0 }).toEqual({ refused, out: '', isRefused: true })
  }
  expect((await bot.mainstem(['requests', 'allow', ofDeploy])).code).toBe(0)
  expect(await attached).toMatchObject({ code: 0, out: expect.stringContaining('I was allowed') })

  // Bob answers on the page, on the node that does not run his agent.
  const bobs = await browserAt(url, tokens.bob)
  await bobs.locator(`[data-session="${docs}"]`).click()
  expect(await bobs.locator('[data-session]').count()).toBe(1)
  await bobs.getByRole('button', { name: 'Deny…' }).click()
  await bobs.getByLabel('Reason for the agent').fill('not today')
  await bobs.getByRole('button', { name: 'Deny', exact: true }).click()
  expect((await bob.mainstem(['wait', 'docs'])).out).toBe('completed\n')
  expect((await bob.mainstem(['logs', 'docs', '--json'])).out).toContain('denied: ')
  // Only what the bot allowed ran.
  expect(readFileSync(join(root, 'ran.log'), 'utf8')).toBe(
    'Bash rm -rf build && npm run build -- --all-of-it\n',
  )
  expect((await ann.mainstem(['send', 'deploy', 'thanks'])).out).toBe('thanks\n')

  // The operator sees who did what, from which client.
  const trail = async (session: string) =>
    (await auditOf('--session', session)).map(
      ({ principal, action, client }) => `${principal} ${action} ${client}`,
    )
  expect(await trail(deploy)).toEqual([
    'ann session.created terminal',
    'ann prompt.sent terminal',
    'bot request.answered terminal',
    'ann prompt.sent terminal',
  ])
  expect(await trail(docs)).toEqual([
    'bob session.created terminal',
    'bob prompt.sent terminal',
    'bob request.answered page',
  ])
  expect(await auditOf('--action', 'grant.added')).toMatchObject([
    { principal: 'local', details: { to: 'bot', of: 'ann' } },
  ])

  // A removed token ends on both nodes, with the login that it allowed and what that follows.
  await ann.mainstem(['run', 'claude', 'permission', '--detach', '--name', 'next'])
  const followed = ann.start(['attach', 'next', '--json'])
  const ended = followed.stderr.setEncoding('utf8').toArray()
  const asked = Promise.withResolvers<void>()
  followed.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes('request.opened')) asked.resolve()
  })
  await asked.promise
  const anns = await Promise.all(nodes.map((node) => browserAt(node.url, tokens.ann)))
  for (const opened of anns) await opened.locator('[data-session]').filter({ hasText: 'next' }).waitFor()
  expect((await operator.mainstem(['token', 'remove', 'ann', '--server', first().url])).code).toBe(0)
  expect((await ended).join('')).toContain('does not accept the token')
  for (const node of [0, 1]) {
    through(node)
    expect(await ann.mainstem(['ls'])).toMatchObject({ code: 7, out: '' })
    await expect(page(node, tokens.ann).server()).rejects.toMatchObject({ code: 'unauthorized' })
    expect((await bob.mainstem(['ls'])).out).toContain('docs')
  }
  // Her pages end on both nodes; Bob's goes on.
  for (const opened of anns) await opened.getByLabel('Or enter a token').waitFor()
  expect(await bobs.locator('[data-session]').count()).toBe(1)
  expect(await auditOf('--action', 'token.removed')).toMatchObject([
    { principal: 'local', client: 'terminal', details: { name: 'ann' } },
  ])
}, 120_000)
