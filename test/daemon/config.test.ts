import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/compose/paths.ts'
import { loadConfig, type Overrides } from '../../src/daemon/config.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'config-'))
})
afterEach(() => rmSync(home, { recursive: true }))

function load(given: { flags?: Overrides; environment?: Environment; file?: unknown } = {}) {
  if (given.file !== undefined) writeFileSync(join(home, 'config.json'), JSON.stringify(given.file))
  return loadConfig({
    flags: given.flags ?? {},
    environment: { MAINSTEM_HOME: home, ...given.environment },
    cwd: '/project',
  })
}

test('without a policy, the default is lowered to the ceiling', async () => {
  const ceiling = { approval: 'ask', sandbox: 'workspace-write', maxSteps: 5 }
  expect((await load({ file: { ceiling } })).policy).toEqual(ceiling)
})

test('a policy above the ceiling is refused with the field and the file', async () => {
  const file = {
    policy: { approval: 'auto-all', sandbox: 'none' },
    ceiling: { approval: 'ask', sandbox: 'none' },
  }
  await expect(load({ file })).rejects.toMatchObject({
    code: 'invalid_request',
    message: `configuration (${join(home, 'config.json')}): policy.approval exceeds the ceiling`,
  })
})

test('agents work in the first root if the server starts outside of all of them', async () => {
  const roots = [join(home, 'first'), join(home, 'second')]
  for (const root of roots) mkdirSync(root)
  expect((await load({ file: { roots } })).cwd).toBe(roots[0])
  expect((await load({ file: { roots, cwd: roots[1] } })).cwd).toBe(roots[1])
  const started = { flags: {}, environment: { MAINSTEM_HOME: home } }
  expect((await loadConfig({ ...started, cwd: roots[1] ?? '' })).cwd).toBe(roots[1])
})

test('by default it listens on loopback, requires a token and works in the current directory', async () => {
  expect(await load()).toEqual({
    host: '127.0.0.1',
    port: 7380,
    hosts: [],
    trustProxy: [],
    origins: [],
    data: home,
    cwd: '/project',
    roots: ['/project'],
    auth: true,
    projects: {},
    policy: { approval: 'ask', sandbox: 'none' },
    ceiling: { approval: 'auto-all', sandbox: 'full-access' },
    accessLog: false,
    durability: 'power',
    search: 'on',
    agents: {},
    node: { labels: [], leaseMs: 30_000 },
    timeouts: {
      keepaliveMs: 15_000,
      pingMs: 30_000,
      stallMs: 30_000,
      headersMs: 10_000,
      requestMs: 30_000,
      drainMs: 15_000,
      startMs: 120_000,
      exitMs: 30_000,
      silenceMs: 60_000,
      orphanMs: 600_000,
      idleExitMs: 1_800_000,
    },
    retention: { keyHours: 24 },
    webhooks: { private: [] },
    limits: {
      bodyBytes: 1_048_576,
      imageBytes: 16_777_216,
      jsonDepth: 64,
      connections: 1024,
      streams: 256,
      processes: 64,
      queue: 100,
    },
  })
})

test('flags win over the environment, that over the file, that over the defaults', async () => {
  const file = { port: 1, host: '::1', data: '/from-file', cwd: '/file', timeouts: { drainMs: 5 } }
  const environment = { MAINSTEM_PORT: '2', MAINSTEM_HOST: 'localhost', MAINSTEM_DATA: '' }
  const config = await load({ file, environment, flags: { port: 3 } })
  expect(config).toMatchObject({
    port: 3,
    host: 'localhost',
    data: '/from-file',
    cwd: '/file',
    roots: ['/file'],
  })
  expect(config.timeouts).toMatchObject({ drainMs: 5, keepaliveMs: 15_000 })
})

test('authentication can be switched off by flag and by file', async () => {
  expect((await load({ file: { auth: false } })).auth).toBe(false)
  expect((await load({ file: {}, flags: { auth: false } })).auth).toBe(false)
})

test('paths in a file are meant from there, paths of flags from here', async () => {
  mkdirSync(join(home, 'etc'))
  writeFileSync(
    join(home, 'etc/m.json'),
    JSON.stringify({ roots: ['a', '/b'], data: 'd', projects: { app: 'a/app' } }),
  )
  const config = await load({ flags: { config: join(home, 'etc/m.json'), cwd: 'here' } })
  expect(config).toMatchObject({
    roots: [join(home, 'etc/a'), '/b'],
    data: join(home, 'etc/d'),
    projects: { app: join(home, 'etc/a/app') },
    cwd: '/project/here',
  })
})

test('an agent can have a configured program and variables', async () => {
  const agents = {
    claude: { command: ['node', 'fake.mjs'], env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } },
  }
  expect((await load({ file: { agents } })).agents).toEqual(agents)
})

describe('an error names the invalid setting', () => {
  test.each([
    ['prot', { prot: 1 }],
    ['port', { port: 'seven' }],
    ['port', { port: 70_000 }],
    ['agents.claude.command', { agents: { claude: { command: 'claude' } } }],
    ['agents.claude.command', { agents: { claude: { command: [] } } }],
    ['agents.claude.env.A-B', { agents: { claude: { env: { 'A-B': 'x' } } } }],
    ['agents.--help', { agents: { '--help': {} } }],
    ['policy.approval', { policy: { approval: 'yes', sandbox: 'none' } }],
    ['ceiling.sandbox', { ceiling: { approval: 'ask' } }],
    ['timeouts.keepaliveMs', { timeouts: { keepaliveMs: 0 } }],
    ['node.name', { node: { name: 'a b' } }],
    ['node.leaseMs', { node: { leaseMs: 100 } }],
    ['limits.bodyBytes', { limits: { bodyBytes: -1 } }],
    ['hosts.0', { hosts: ['example.com:80'] }],
    ['roots', { roots: [] }],
  ])('%s in a file', async (path, file) => {
    const failure = expect(load({ file })).rejects
    await failure.toThrow(path)
    await failure.toThrow(join(home, 'config.json'))
  })

  test('a variable', async () => {
    await expect(load({ environment: { MAINSTEM_PORT: 'x' } })).rejects.toThrow(/environment\): port/)
  })

  test('a file that is not JSON', async () => {
    writeFileSync(join(home, 'config.json'), '{')
    await expect(load()).rejects.toThrow(/not valid JSON/)
  })

  test('an explicitly given file that does not exist', async () => {
    await expect(load({ flags: { config: '/nowhere.json' } })).rejects.toThrow(
      /nowhere\.json\): no such file/,
    )
  })
})

test('a trusted proxy is an address or a range of addresses', async () => {
  const trustProxy = ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8']
  writeFileSync(join(home, 'config.json'), JSON.stringify({ trustProxy }))
  expect(await load()).toMatchObject({ trustProxy })
  for (const wrong of [
    'proxy',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0',
    'true',
    '',
  ]) {
    writeFileSync(join(home, 'config.json'), JSON.stringify({ trustProxy: [wrong] }))
    await expect(load(), wrong).rejects.toThrow('trustProxy')
  }
})
