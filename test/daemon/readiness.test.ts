import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { agents } from '../../src/agents/index.ts'
import { type AgentReadiness, type ReadinessQuestion, readiness } from '../../src/compose/readiness.ts'
import { Machine, VERSIONS } from './fake-programs.ts'

function agent(id: string): Agent {
  const found = agents.find((one) => one.id === id)
  if (!found) throw new TypeError(`there is no agent ${id}`)
  return found
}

/** One agent on one machine. */
async function ask(id: string, machine: Machine, more: ReadinessQuestion = {}): Promise<AgentReadiness> {
  const question = {
    agents: [agent(id)],
    ...more,
    environment: { ...machine.environment, ...more.environment },
  }
  const [answer] = await readiness(question)
  if (!answer) throw new TypeError('no answer')
  return answer
}

describe('the way of an agent', () => {
  test('goes from missing over needs login to ready, and each step names the next', async () => {
    const machine = new Machine()
    expect(await ask('claude', machine)).toMatchObject({
      state: 'missing',
      note: 'claude is not in PATH',
      fix: 'npm install -g @anthropic-ai/claude-code',
    })
    const program = machine.program('claude', VERSIONS.claude)
    expect(await ask('claude', machine)).toMatchObject({
      state: 'needs_login',
      program,
      version: '2.1.326',
      fit: 'tested',
      credentials: [],
      fix: 'claude auth login',
    })
    const file = machine.file('home/.claude/.credentials.json')
    const ready = await ask('claude', machine)
    expect(ready).toMatchObject({ state: 'ready', credentials: [{ file }] })
    expect(ready).not.toHaveProperty('fix')
    expect(ready.sessions).toBe(join(machine.home, '.claude/projects'))
    expect(ready.launches.live).toEqual(agent('claude').launches.live?.capabilities)
  })

  test('a program whose interpreter is missing is broken, and names it', async () => {
    const machine = new Machine()
    const program = machine.program('claude', VERSIONS.claude)
    writeFileSync(program, '#!/usr/bin/env no-such-node\n')
    expect(await ask('claude', machine)).toMatchObject({
      state: 'broken',
      note: `${program} needs no-such-node, which is not in PATH`,
      fix: expect.stringMatching(/^Install no-such-node/),
    })
  })

  test('a built-in agent needs nothing', async () => {
    const echo = await ask('echo', new Machine())
    expect(echo).toMatchObject({ id: 'echo', name: 'Echo', state: 'built_in', credentials: [] })
    expect(Object.keys(echo.launches)).toEqual(['live', 'oneshot'])
  })

  test('an agent with free models is ready without a login, and a note says so', async () => {
    const machine = new Machine()
    machine.program('opencode', VERSIONS.opencode)
    expect(await ask('opencode', machine)).toMatchObject({
      state: 'ready',
      credentials: [],
      note: 'without a login only its free models are available',
    })
  })

  test('OpenCode 2 is shown as such, with how far it is verified', async () => {
    const machine = new Machine()
    machine.program('opencode', 'echo 2.1.3')
    const answer = await ask('opencode', machine)
    expect(answer).toMatchObject({
      name: 'OpenCode 2',
      state: 'ready',
      version: '2.1.3',
      note: expect.stringContaining('verified by recordings'),
    })
    expect([answer.fit, answer.testedVersion]).toEqual([undefined, undefined])
    expect(answer.launches.live).toMatchObject({ steer: 'folded', questions: true })
    expect(Object.keys(answer.launches)).toEqual(['live', 'oneshot'])
  })

  test('where a login may be hidden, nothing is claimed', async () => {
    const machine = new Machine()
    machine.program('gemini', VERSIONS.gemini)
    expect(await ask('gemini', machine)).toMatchObject({ state: 'installed', fix: 'gemini' })
    machine.program('goose', '')
    expect(await ask('goose', machine)).toMatchObject({ state: 'installed', credentials: [] })
    const { version: _, ...setup } = agent('claude').setup ?? {}
    const claude = { ...agent('claude'), setup }
    machine.program('claude', '')
    const [onMac] = await readiness({ agents: [claude], platform: 'darwin', ...machine })
    const [onLinux] = await readiness({ agents: [claude], platform: 'linux', ...machine })
    expect([onMac?.state, onLinux?.state]).toEqual(['installed', 'needs_login'])
  })

  test('an agent on a server elsewhere needs its address, and perhaps a token', async () => {
    const machine = new Machine()
    const MAINSTEM_BOARD_URL = 'http://127.0.0.1:1'
    expect(await ask('board', machine)).toMatchObject({
      state: 'missing',
      note: expect.stringContaining('MAINSTEM_BOARD_URL'),
    })
    const addressed = await ask('board', machine, { environment: { MAINSTEM_BOARD_URL } })
    expect(addressed).toMatchObject({ state: 'installed', credentials: [] })
    const settings = { board: { env: { MAINSTEM_BOARD_URL, MAINSTEM_BOARD_TOKEN: 'canary' } } }
    const ready = await ask('board', machine, { settings })
    expect(ready).toMatchObject({ state: 'ready', credentials: [{ variable: 'MAINSTEM_BOARD_TOKEN' }] })
    expect(JSON.stringify(ready)).not.toContain('canary')
  })

  test('an agent that only the configuration can name is missing until it does', async () => {
    const machine = new Machine()
    const program = machine.program('mine', '')
    expect(await ask('acp', machine)).toMatchObject({
      state: 'missing',
      note: expect.stringContaining('agents.acp.command'),
    })
    const settings = { acp: { command: [program, '--acp'] } }
    expect(await ask('acp', machine, { settings })).toMatchObject({ state: 'installed', program })
  })
})

describe('the billed account', () => {
  test('is named in the order of the agent, and neither values nor files are read', async () => {
    const machine = new Machine()
    machine.program('claude', VERSIONS.claude)
    const file = machine.file('home/.claude/.credentials.json', 'canary')
    chmodSync(file, 0)
    const environment = {
      CLAUDE_CODE_OAUTH_TOKEN: 'canary',
      ANTHROPIC_API_KEY: 'canary',
      ANTHROPIC_AUTH_TOKEN: '',
      CLAUDE_CODE_USE_BEDROCK: '0',
      CLAUDE_CODE_USE_VERTEX: '1',
      OPENAI_API_KEY: 'canary',
    }
    const answer = await ask('claude', machine, { environment })
    expect(answer.credentials).toEqual([
      { variable: 'CLAUDE_CODE_USE_VERTEX' },
      { variable: 'ANTHROPIC_API_KEY' },
      { variable: 'CLAUDE_CODE_OAUTH_TOKEN' },
      { file },
    ])
    expect(JSON.stringify(answer)).not.toContain('canary')
  })

  test('a key for one launch leaves the other without a login, and a note says so', async () => {
    const machine = new Machine()
    machine.program('codex', VERSIONS.codex)
    const environment = { CODEX_API_KEY: 'k', OPENAI_API_KEY: 'k' }
    expect(await ask('codex', machine, { environment })).toMatchObject({
      state: 'needs_login',
      credentials: [{ variable: 'CODEX_API_KEY', launch: 'oneshot' }],
      note: 'the credentials work for its oneshot launch only',
      fix: 'codex login',
    })
    machine.program('codex', ':')
    const { note } = await ask('codex', machine, { environment })
    expect(note).toMatch(
      /^it printed no readable version.*; the credentials work for its oneshot launch only$/,
    )
    const file = machine.file('home/.codex/auth.json')
    expect(await ask('codex', machine, { environment })).toMatchObject({
      state: 'ready',
      credentials: [{ variable: 'CODEX_API_KEY', launch: 'oneshot' }, { file }],
    })
  })

  test('a set variable that the configuration of Codex names as the key of a provider is a login', async () => {
    const machine = new Machine()
    machine.program('codex', VERSIONS.codex)
    machine.file('home/.codex/config.toml', '[model_providers.mine]\nenv_key = "GATEWAY_LOGIN"\n')
    expect(await ask('codex', machine)).toMatchObject({ state: 'needs_login', credentials: [] })
    const answer = await ask('codex', machine, { environment: { GATEWAY_LOGIN: 'canary' } })
    expect(answer).toMatchObject({ state: 'ready', credentials: [{ variable: 'GATEWAY_LOGIN' }] })
    expect(JSON.stringify(answer)).not.toContain('canary')
  })

  test('a note says when the settings of the agent select the credential', async () => {
    const machine = new Machine()
    machine.program('gemini', VERSIONS.gemini)
    const file = machine.file('home/.gemini/oauth_creds.json')
    const answer = await ask('gemini', machine, { environment: { GEMINI_API_KEY: 'k' } })
    expect(answer).toMatchObject({
      state: 'ready',
      billedBySettings: true,
      credentials: [{ variable: 'GEMINI_API_KEY' }, { file }],
    })
  })

  test('a variable of the configuration counts as the agent will get it', async () => {
    const machine = new Machine()
    machine.program('claude', VERSIONS.claude)
    const settings = { claude: { env: { ANTHROPIC_API_KEY: 'canary' } } }
    const answer = await ask('claude', machine, { settings })
    expect(answer).toMatchObject({ state: 'ready', credentials: [{ variable: 'ANTHROPIC_API_KEY' }] })
    expect(JSON.stringify(answer)).not.toContain('canary')
  })

  test('a folder instead of a login file is not a login', async () => {
    const machine = new Machine()
    machine.program('claude', VERSIONS.claude)
    machine.file('home/.claude/.credentials.json/file')
    expect(await ask('claude', machine)).toMatchObject({ state: 'needs_login', credentials: [] })
    machine.file('home/.codex')
    machine.program('codex', VERSIONS.codex)
    expect(await ask('codex', machine)).toMatchObject({ state: 'needs_login', credentials: [] })
  })
})

describe('places', () => {
  test.each([
    ['claude', 'CLAUDE_CONFIG_DIR', '.credentials.json', 'projects'],
    ['codex', 'CODEX_HOME', 'auth.json', 'sessions'],
    ['gemini', 'GEMINI_CLI_HOME', '.gemini/oauth_creds.json', '.gemini/tmp'],
    ['opencode', 'XDG_DATA_HOME', 'opencode/auth.json', 'opencode'],
  ])('of %s move with %s', async (id, variable, login, sessions) => {
    const machine = new Machine()
    machine.program(id, '')
    const elsewhere = join(machine.root, 'elsewhere')
    const file = machine.file(join('elsewhere', login))
    const answer = await ask(id, machine, { environment: { [variable]: elsewhere } })
    expect(answer).toMatchObject({ credentials: [{ file }], sessions: join(elsewhere, sessions) })
  })

  test.each([undefined, ''])('are found where HOME is %j', async (HOME) => {
    const [answer] = await readiness({ agents: [agent('claude')], environment: { PATH: '/nowhere', HOME } })
    expect(answer?.sessions).toBe(join(userInfo().homedir, '.claude/projects'))
  })
})

describe('a program of the configuration', () => {
  test('counts as that of the agent', async () => {
    const machine = new Machine()
    const program = machine.program('my-claude', VERSIONS.claude)
    for (const name of [program, 'my-claude']) {
      const settings = { claude: { command: [name] } }
      expect(await ask('claude', machine, { settings })).toMatchObject({ program, version: '2.1.326' })
    }
  })

  test('is looked for in the PATH of the configuration', async () => {
    const machine = new Machine()
    const program = machine.program('claude', VERSIONS.claude)
    const settings = { claude: { env: { PATH: machine.bin } } }
    const [answer] = await readiness({
      agents: [agent('claude')],
      settings,
      environment: { PATH: '/nowhere' },
    })
    expect(answer).toMatchObject({ program, version: '2.1.326' })
  })

  test('that does not exist is a configuration error without install advice', async () => {
    const settings = { claude: { command: ['/nowhere/claude'] } }
    const answer = await ask('claude', new Machine(), { settings })
    expect(answer).toMatchObject({ state: 'missing', note: expect.stringContaining('agents.claude.command') })
    expect(answer).not.toHaveProperty('fix')
  })

  test('is not run when it has arguments', async () => {
    const machine = new Machine()
    const program = machine.program('npx', 'echo run > $here/ran')
    const settings = { claude: { command: [program, '-y', '@anthropic-ai/claude-code'] } }
    const answer = await ask('claude', machine, { settings })
    expect(answer).toMatchObject({ program, note: expect.stringContaining('was not queried') })
    expect(existsSync(join(machine.bin, 'ran'))).toBe(false)
  })
})

test('every agent is checked, two programs at a time, and the results keep their order', async () => {
  const machine = new Machine()
  // Each waits for a second one to have started, so that one at a time would never end.
  const script = `echo start >> $here/log
while read line; do :; done
until [ "$(/usr/bin/wc -l < $here/log)" -ge 2 ]; do :; done
echo end >> $here/log`
  for (const [name, version] of Object.entries(VERSIONS)) machine.program(name, `${script}\n${version}`)
  const answers = await readiness(machine)
  expect(answers.map(({ id }) => id)).toEqual(agents.map(({ id }) => id))
  const versions = Object.keys(VERSIONS).map((name) => answers.find(({ id }) => id === name)?.version)
  expect(versions).toEqual(['2.1.326', '0.169.0', '0.61.0', '1.18.33'])
  const log = readFileSync(join(machine.bin, 'log'), 'utf8').trim().split('\n')
  let running = 0
  const counts = log.map((line) => (running += line === 'start' ? 1 : -1))
  // The program of one agent is that of another as well.
  expect([log.length, Math.max(...counts), running]).toEqual([10, 2, 0])
})
