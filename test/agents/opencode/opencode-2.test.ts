import { describe, expect, test } from 'vitest'
import {
  Approval,
  DEFAULT_POLICY,
  type LaunchKind,
  type Policy,
  Sandbox,
  type SessionOptions,
} from '../../../src/model/index.ts'
import { agentAt } from '../../../src/sessions/process/recipes.ts'
import { agentOf, result, Talk } from '../acp/acp-talk.ts'

const VERSION = '2.1.3'

const cells = Approval.options.flatMap((approval) =>
  Sandbox.options.map((sandbox) => ({ approval, sandbox })),
)

function launchOf(policy: Policy, options: SessionOptions = {}, launch: LaunchKind = 'live') {
  const recipe = agentAt(agentOf('opencode'), VERSION).launches[launch]
  const start = { launch, cwd: '/project', policy, options, epoch: 1, version: VERSION } as const
  const launched = recipe?.launch(start)
  if (launched?.kind !== 'server') throw new Error('OpenCode 2 is a server')
  const config = JSON.parse(launched.env.OPENCODE_CONFIG_CONTENT ?? '{}')
  return { ...launched, config }
}

const rule = (action: string, effect: string, resource = '*') => ({ action, resource, effect })

describe('opencode at version 2', () => {
  test('starts a private server that ends with its input, with our password under both names', () => {
    const { argv, login, endsWithInput, reopens } = launchOf(DEFAULT_POLICY)
    expect(argv).toEqual(['opencode', 'serve', '--stdio'])
    expect({ endsWithInput, reopens }).toEqual({ endsWithInput: true, reopens: true })
    expect(login.passwordVariables).toEqual(['OPENCODE_PASSWORD', 'OPENCODE_SERVER_PASSWORD'])
  })

  test('starts the same server for one turn', () => {
    expect(launchOf(DEFAULT_POLICY, {}, 'oneshot').argv).toEqual(['opencode', 'serve', '--stdio'])
  })

  test('gets its rules in the configuration, because it ignores the variable of version 1', () => {
    const { config, env } = launchOf(DEFAULT_POLICY)
    expect(env.OPENCODE_PERMISSION).toBeUndefined()
    expect(config.permissions[0]).toEqual(rule('*', 'ask'))
    expect(config.permissions).toContainEqual(rule('read', 'ask', '*.env'))
    expect(config.permissions.at(-1)).toEqual(rule('question', 'allow'))
  })

  test.each<[Policy, object[]]>([
    [{ approval: 'auto-all', sandbox: 'none' }, []],
    [{ approval: 'auto-edit', sandbox: 'none' }, [rule('*', 'ask'), rule('edit', 'allow')]],
    [{ approval: 'ask', sandbox: 'read-only' }, [rule('*', 'deny'), rule('webfetch', 'ask')]],
    [
      { approval: 'ask', sandbox: 'none', tools: { preapproved: ['execute'], denied: ['webfetch'] } },
      [rule('*', 'ask'), rule('shell', 'allow'), rule('webfetch', 'deny')],
    ],
  ])('has the rules of %o', (policy, rules) => {
    const { permissions } = launchOf(policy).config
    for (const one of rules) expect(permissions).toContainEqual(one)
    if (rules.length === 0) expect(permissions).toEqual([])
  })

  test.each<[Policy, SessionOptions, object | undefined]>([
    [DEFAULT_POLICY, {}, undefined],
    [DEFAULT_POLICY, { systemPrompt: { replace: 'Be brief.' } }, { build: { system: 'Be brief.' } }],
    [{ ...DEFAULT_POLICY, maxSteps: 3 }, {}, { build: { steps: 3 }, plan: { steps: 3 } }],
    [
      { ...DEFAULT_POLICY, maxSteps: 3 },
      { systemPrompt: { replace: 'Be brief.' } },
      { build: { steps: 3, system: 'Be brief.' }, plan: { steps: 3 } },
    ],
  ])('sets its agents under one key, because another one is dropped: %o %o', (policy, options, agents) => {
    const { config } = launchOf(policy, options)
    expect(config.agent).toBeUndefined()
    expect(config.agents).toEqual(agents)
  })

  test.each<[Policy, SessionOptions, string]>([
    [{ approval: 'ask', sandbox: 'workspace-write' }, {}, 'sandbox workspace-write'],
    [DEFAULT_POLICY, { outputSchema: {} }, 'outputSchema'],
    [DEFAULT_POLICY, { effort: 'high' }, 'effort'],
    [DEFAULT_POLICY, { isolation: 'bare' }, 'isolation bare'],
  ])('refuses what it cannot enforce: %o %o', (policy, options, named) => {
    expect(() => launchOf(policy, options)).toThrow(named)
  })

  test('says how far it is verified, and leaves version 1 as it was', () => {
    const agent = agentOf('opencode')
    expect(agentAt(agent, VERSION)).toMatchObject({
      name: 'OpenCode 2',
      unverified: expect.stringContaining('recordings'),
    })
    expect(agentAt(agent, VERSION).testedVersion).toBeUndefined()
    expect(agentAt(agent, '1.18.33')).toBe(agent)
  })
})

function refusalOf(agent: string, policy: (typeof cells)[number], version: string): string | undefined {
  const live = agentAt(agentOf(agent), version).launches.live
  const start = { launch: 'live', cwd: '/project', policy, options: {}, epoch: 1, version } as const
  try {
    live?.launch(start)
  } catch (thrown) {
    return String(thrown)
  }
  return undefined
}

describe.each(['opencode-acp'])('%s at version 2', (agent) => {
  test('starts only with policies that allow everything', () => {
    const accepted = cells.filter((policy) => refusalOf(agent, policy, VERSION) === undefined)
    expect(accepted).toEqual([
      { approval: 'auto-all', sandbox: 'none' },
      { approval: 'auto-all', sandbox: 'full-access' },
    ])
  })

  test('names the option, the agent and a way out', () => {
    const refusal = refusalOf(agent, { approval: 'ask', sandbox: 'none' }, '2.0.0-beta.1')
    expect(refusal).toContain(`ask none is not supported by ${agent}: OpenCode 2 may ignore`)
    expect(refusal).toContain('install opencode-ai 1.18')
  })
})

const modes = { currentModeId: 'build', availableModes: [{ id: 'build', name: 'build' }] }

function opened(version: string, start: ConstructorParameters<typeof Talk>[1] = {}): [Talk, unknown[]] {
  const talk = new Talk('opencode-acp', start)
  talk.tell({ type: 'open' })
  talk.prompt()
  const agentInfo = { name: 'OpenCode', version }
  talk.write(result(1, { protocolVersion: 1, agentInfo, agentCapabilities: {} }))
  return [talk, talk.write(result(2, { sessionId: 's1', modes }))]
}

test('refuses the first prompt when only the handshake shows version 2', () => {
  const [talk, writes] = opened(VERSION)
  expect(writes).toEqual(['end'])
  expect(talk.only('turn.completed')).toMatchObject([
    {
      outcome: 'failed',
      error: { code: 'unsupported_option', message: expect.stringContaining('OpenCode 2') },
    },
  ])
})

test('prompts version 2 under auto-all', () => {
  const [, writes] = opened(VERSION, { policy: { ...DEFAULT_POLICY, approval: 'auto-all' } })
  expect(writes).toMatchObject([{ method: 'session/prompt' }])
})

test.each(['1.18.33', VERSION])('keeps the rules that version %s started with', (version) => {
  const policy = { ...DEFAULT_POLICY, approval: 'auto-all' } as const
  const [talk] = opened(version, { policy })
  const other = { ...policy, approval: 'ask' } as const
  expect(talk.conversation.command({ type: 'set_policy', policy: other }).applies).toBe('next_process')
  expect(talk.conversation.command({ type: 'set_policy', policy }).applies).toBeUndefined()
})
