import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { processDriver } from '../../../src/drivers/process.ts'
import { contextOf, expectNothingLeft, fakeAgent, QUICK, readField } from '../fake-run.ts'

afterEach(expectNothingLeft)

/** Variables of ours that no child has any business with. */
const CANARIES = [
  ...[
    'CLAUDECODE',
    'CLAUDE_CODE_ENTRYPOINT',
    'TMUX',
    'TMUX_PANE',
    'TERM_PROGRAM',
    'SSH_AUTH_SOCK',
    'NODE_OPTIONS',
  ],
  ...['MAINSTEM_TOKEN', 'MAINSTEM_RUN', 'MAINSTEM_DATABASE_URL', 'DATABASE_URL', 'PGPASSWORD', 'LD_PRELOAD'],
  ...[
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'GEMINI_API_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'GITHUB_TOKEN',
    'NPM_TOKEN',
  ],
  ...[
    'PATHS',
    'XPATH',
    'HOMEPAGE',
    'LANGUAGE',
    'LC',
    'XLC_ALL',
    'path',
    'home',
    'TERMINFO',
    'FORCE_COLOR',
    'PWD',
  ],
  ...Array.from({ length: 20 }, (_, n) => `CANARY_${n}`),
]

const canaries = Object.fromEntries(CANARIES.map((name) => [name, 'canary']))

/** The environment that a real child sees. */
async function seenBy(
  ours: Record<string, string>,
  passEnv: string[] = [],
  env: Record<string, string> = {},
  contextEnv: Record<string, string> = {},
  keys?: Record<string, string>,
): Promise<Record<string, string>> {
  const driver = processDriver({ graces: QUICK, environment: ours })
  const context = contextOf({ env: contextEnv, ...(keys && { keys }) })
  const run = driver.start({ ...fakeAgent('dump'), env, passEnv }, context)
  const seen = { ...Object(await readField(run, 'env')) }
  expect(seen.MAINSTEM_RUN).toBe(context.runId)
  expect(await run.exit).toEqual({ code: 0 })
  return seen
}

const COMMON = ['MAINSTEM_RUN', 'NO_COLOR', 'TERM', 'TMPDIR']

describe('the environment of a child', () => {
  it('contains none of fifty other variables that are not on the allow-list', async () => {
    expect(CANARIES.length).toBeGreaterThanOrEqual(50)
    const seen = await seenBy({ ...canaries, PATH: '/bin', HOME: '/home/x' })
    expect(Object.keys(seen).sort()).toEqual(['HOME', ...COMMON.slice(0, 2), 'PATH', ...COMMON.slice(2)])
    expect(Object.values(seen)).not.toContain('canary')
  })

  it('contains what every program of this user needs', async () => {
    const ours = {
      PATH: '/bin',
      HOME: '/h',
      LANG: 'C',
      LC_ALL: 'C',
      LC_TIME: 'C',
      SHELL: '/bin/sh',
      TZ: 'UTC',
    }
    const network = { HTTPS_PROXY: 'http://127.0.0.1:1', no_proxy: '*', SSL_CERT_FILE: '/ca.pem' }
    expect(await seenBy({ ...ours, ...network })).toMatchObject({ ...ours, ...network })
  })

  it('requests plain text output', async () => {
    expect(await seenBy({ TERM: 'xterm-256color' })).toMatchObject({ TERM: 'dumb', NO_COLOR: '1' })
  })

  it('passes only the names and prefixes that a launch requests', async () => {
    const seen = await seenBy({ ...canaries, ANTHROPIC_BASE_URL: 'x' }, [
      'ANTHROPIC_*',
      'GITHUB_TOKEN',
      'CANARY_',
    ])
    const passed = Object.keys(seen).filter((name) => !COMMON.includes(name))
    expect(passed.sort()).toEqual(['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'GITHUB_TOKEN'])
  })

  it('has the variables of the caller in place of ours, as far as the launch requests them', async () => {
    const ours = { ...canaries, PATH: '/bin', ANTHROPIC_API_KEY: 'ours', OPENAI_API_KEY: 'ours' }
    const keys = { ANTHROPIC_API_KEY: 'theirs', LD_PRELOAD: '/x', PATH: '/theirs', MAINSTEM_TOKEN: 'x' }
    const seen = await seenBy(ours, ['ANTHROPIC_*', 'OPENAI_API_KEY'], {}, {}, keys)
    expect(seen).toMatchObject({ ANTHROPIC_API_KEY: 'theirs', OPENAI_API_KEY: 'ours', PATH: '/bin' })
    expect(seen).not.toHaveProperty('LD_PRELOAD')
    expect(seen).not.toHaveProperty('MAINSTEM_TOKEN')
  })

  it('never includes a Mainstem variable, even when a launch requests everything', async () => {
    const seen = await seenBy({ A: '1', MAINSTEM_TOKEN: 'canary', MAINSTEM_RUN: 'canary' }, [
      '*',
      'MAINSTEM_TOKEN',
    ])
    expect(seen.A).toBe('1')
    expect(Object.values(seen)).not.toContain('canary')
  })

  it('is set by the launch, then by the run, and cannot override the run marker', async () => {
    const launch = { A: 'launch', B: 'launch', HOME: '/launch', MAINSTEM_RUN: randomUUID() }
    const context = { B: 'run', C: 'run', MAINSTEM_RUN: '' }
    const seen = await seenBy({ HOME: '/ours' }, [], launch, context)
    expect(seen).toMatchObject({ A: 'launch', B: 'run', C: 'run', HOME: '/launch' })
  })

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['inherited', { SETTINGS: '{"theirs":1,"both":1}' }, {}],
    ['configured', {}, { SETTINGS: '{"theirs":1,"both":1}' }],
  ])('joins the settings of a launch with %s ones', async (_, ours, configured) => {
    const driver = processDriver({ graces: QUICK, environment: ours })
    const env = { SETTINGS: '{"both":2}', OTHER: '{"a":1}' }
    const launch = { ...fakeAgent('dump'), env, passEnv: ['SETTINGS'], joinedEnv: ['SETTINGS', 'ABSENT'] }
    const run = driver.start(launch, contextOf({ env: configured }))
    const seen = { ...Object(await readField(run, 'env')) }
    expect(JSON.parse(seen.SETTINGS)).toEqual({ theirs: 1, both: 2 })
    expect(seen).toMatchObject({ OTHER: '{"a":1}' })
    expect(seen).not.toHaveProperty('ABSENT')
    await run.exit
  })
})
