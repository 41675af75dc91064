import { describe, expect, test } from 'vitest'
import { Approval, DEFAULT_POLICY, Sandbox } from '../../src/model/index.ts'
import { agentAt } from '../../src/sessions/recipes.ts'
import { agentOf, result, Talk } from './acp-talk.ts'

const VERSION = '2.1.3'

const cells = Approval.options.flatMap((approval) =>
  Sandbox.options.map((sandbox) => ({ approval, sandbox })),
)

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

describe.each(['opencode', 'opencode-acp'])('%s at version 2', (agent) => {
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
