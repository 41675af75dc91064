import { expect, it } from 'vitest'
import { board } from '../../../src/agents/board/agent.ts'
import type { Policy, SessionOptions } from '../../../src/model/index.ts'

const POLICY: Policy = { approval: 'auto-all', sandbox: 'none' }

function launch(policy: Partial<Policy> = {}, options: SessionOptions = {}, resume?: string, epoch = 1) {
  return board.launches.live?.launch({
    launch: 'live',
    cwd: '/',
    policy: { ...POLICY, ...policy },
    options,
    epoch,
    ...(resume !== undefined && { resume }),
  })
}

it('names the variables of address and token, and contains neither', () => {
  expect(launch()).toEqual({
    kind: 'remote',
    variables: { url: 'MAINSTEM_BOARD_URL', token: 'MAINSTEM_BOARD_TOKEN' },
    opening: {
      tag: 'prompt',
      fields: { agentId: 'MAINSTEM_BOARD_AGENT', projectId: 'MAINSTEM_BOARD_PROJECT' },
    },
    paths: {
      socket: '/ws/sessions/{id}',
      events: '/api/sessions/{id}/events',
      state: '/api/sessions/{id}',
      cancel: '/api/sessions/{id}/cancel',
    },
    names: { id: 'id', events: 'events', state: 'state', running: 'running' },
    idPrefix: 'evt-',
  })
})

it.each<[string, Partial<Policy>]>([
  ['approval ask', { approval: 'ask' }],
  ['approval ask-dangerous', { approval: 'ask-dangerous' }],
  ['approval auto-edit', { approval: 'auto-edit' }],
  ['sandbox read-only', { sandbox: 'read-only' }],
  ['sandbox workspace-write', { sandbox: 'workspace-write' }],
  ['network', { network: false }],
  ['writableRoots', { writableRoots: ['/'] }],
  ['tools', { tools: { denied: ['Bash'] } }],
  ['maxSteps', { maxSteps: 3 }],
  ['maxBudgetUsd', { maxBudgetUsd: 1 }],
])('rejects %s, which cannot be enforced here', (option, policy) => {
  expect(() => launch(policy)).toThrow(
    expect.objectContaining({ code: 'unsupported_option', details: { agent: 'board', option } }),
  )
})

it.each<[string, SessionOptions]>([
  ['model', { model: 'm' }],
  ['effort', { effort: 'high' }],
  ['systemPrompt', { systemPrompt: { append: 'be brief' } }],
  ['extraDirectories', { extraDirectories: ['/tmp'] }],
  ['mcpServers', { mcpServers: {} }],
  ['isolation bare', { isolation: 'bare' }],
  ['images', { images: [] }],
  ['outputSchema', { outputSchema: {} }],
  ['checkpointing', { checkpointing: true }],
  ['hooks', { hooks: {} }],
  ['env.PATH', { env: { PATH: '/' } }],
])('rejects %s, which its server does not accept', (option, options) => {
  expect(() => launch({}, options)).toThrow(
    expect.objectContaining({ code: 'unsupported_option', details: { agent: 'board', option } }),
  )
})

it('lets no client choose where the token is sent', () => {
  for (const name of ['MAINSTEM_BOARD_URL', 'MAINSTEM_BOARD_TOKEN'])
    expect(() => launch({}, { env: { [name]: 'http://127.0.0.1:1' } })).toThrow(/only MAINSTEM_BOARD_AGENT/)
})

it('accepts what it can enforce: timeouts, agent, project, and full access', () => {
  expect(launch({ sandbox: 'full-access', timeoutMs: 1_000, idleTimeoutMs: 1_000 })).toBeDefined()
  expect(launch({}, { env: { MAINSTEM_BOARD_AGENT: 'codex', MAINSTEM_BOARD_PROJECT: 'p' } })).toBeDefined()
  expect(launch({}, { isolation: 'user' })).toBeDefined()
})

it('resumes no session of the board', () => {
  expect(() => launch({}, {}, 'some-session')).toThrow(/one prompt each/)
  // Inside a session the prompt is refused instead, because a turn is already open.
  expect(launch({}, {}, 'some-session', 2)).toBeDefined()
})
