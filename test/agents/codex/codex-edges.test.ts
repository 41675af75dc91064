import { describe, expect, test } from 'vitest'
import { codex } from '../../../src/agents/codex/agent.ts'
import { otherServers } from '../../../src/agents/codex/tool-lists.ts'
import type { Policy } from '../../../src/model/index.ts'
import { inTurn, notification, opened, startOf, turnCompleted, wire, written } from './codex-wire.ts'

test.each([42, 'text', null, [1], true])('a line that is JSON but no object, %j, is malformed', (line) => {
  for (const launch of ['live', 'oneshot'] as const) expect(wire(launch).hear(line).verdict).toBe('malformed')
})

test.each([
  ['unauthorized', 'error'],
  ['somethingNew', 'error'],
  ['cyberPolicy', 'refusal'],
  ['misalignmentPolicyViolation', 'refusal'],
])('a turn that failed with %s ends with the evidence "%s"', (codexErrorInfo, evidence) => {
  const failed = turnCompleted('failed', { error: { message: 'it failed', codexErrorInfo } })
  expect(inTurn().hear(failed).emitted).toContainEqual(
    expect.objectContaining({ type: 'turn.verdict', evidence }),
  )
})

test('a thread is announced by the first process, and by a later one that did not resume it', () => {
  const announces = (setup: Parameters<typeof wire>[1]) => {
    const codec = wire('live', setup)
    codec.command({ type: 'open', ...(setup?.resume !== undefined && { resume: setup.resume }) })
    codec.hear({ id: 'c1', result: {} })
    const { emitted } = codec.hear({
      id: 'c2',
      result: { thread: { id: 'thread-1', cliVersion: '0.166.0' }, model: 'm' },
    })
    return emitted.some((one) => one.type === 'session.updated' && one.nativeSessionId === 'thread-1')
  }
  expect(announces({})).toBe(true)
  expect(announces({ epoch: 2 })).toBe(true)
  expect(announces({ resume: 'thread-1' })).toBe(true)
  expect(announces({ epoch: 2, resume: 'thread-1' })).toBe(false)
})

test('a flat item after a completed one of the same kind is another message', () => {
  const codec = wire('oneshot')
  const flat = (type: string, content: string) => ({ type, item_type: 'agent_message', content })
  const texts = ['one', 'two'].flatMap((text) => [
    ...codec.hear(flat('item.started', '')).emitted,
    ...codec.hear(flat('item.completed', text)).emitted,
  ])
  const messages = texts.flatMap((one) => (one.type === 'text.completed' ? [one] : []))
  expect(messages.map(({ text }) => text)).toEqual(['one', 'two'])
  expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(2)
})

test('a denied server of the own settings of Codex is off; with denied tools, it lacks these tools', () => {
  const denied = ['all.*', 'some.one', 'some.two', 'ours.*']
  const policy = { approval: 'ask', sandbox: 'none', tools: { denied } } as const
  expect(otherServers({ mcpServers: { ours: { command: 'x' } } }, policy)).toEqual({
    all: { enabled: false },
    some: { disabled_tools: ['one', 'two'] },
  })
})

test('drafts of messages do not outlive their turn', () => {
  const codec = opened()
  const play = (turn: number) => {
    codec.command({ type: 'prompt', text: 'go' })
    codec.hear({ id: `c${turn + 2}`, result: { turn: { id: `turn-${turn}` } } })
    codec.hear(notification('turn/started', { turnId: `turn-${turn}`, turn: { id: `turn-${turn}` } }))
    codec.hear(
      notification('item/agentMessage/delta', {
        turnId: `turn-${turn}`,
        itemId: `m${turn}`,
        delta: 'x'.repeat(1_000),
      }),
    )
    codec.hear(
      notification('turn/completed', {
        turnId: `turn-${turn}`,
        turn: { id: `turn-${turn}`, status: 'interrupted' },
      }),
    )
  }
  play(1)
  const before = codec.size()
  for (let turn = 2; turn <= 20; turn++) play(turn)
  expect(codec.size() - before).toBeLessThan(5_000)
})

test('the model of an opened thread is the one of the response, or else the one of the thread', () => {
  const modelOf = (result: object) => {
    const codec = wire('live')
    codec.command({ type: 'open' })
    codec.hear({ id: 'c1', result: {} })
    const { emitted } = codec.hear({ id: 'c2', result })
    return emitted.flatMap((one) => (one.type === 'session.updated' && one.model ? [one.model] : []))
  }
  expect(modelOf({ thread: { id: 'thread-1', model: 'old' }, model: 'new' })).toEqual(['new'])
  expect(modelOf({ thread: { id: 'thread-1', model: 'old' } })).toEqual(['old'])
})

test('the interrupt of a turn names the turn that the response to the prompt announced', () => {
  const codec = opened()
  codec.command({ type: 'prompt', text: 'go' })
  codec.hear({ id: 'c3', result: { turn: { id: 'turn-9' } } })
  codec.hear(notification('turn/started', { turnId: 'turn-9', turn: { id: 'turn-9' } }))
  expect(written(codec.command({ type: 'interrupt' }))).toContainEqual(
    expect.objectContaining({
      method: 'turn/interrupt',
      params: expect.objectContaining({ turnId: 'turn-9' }),
    }),
  )
})

test('patches cannot be denied to a one-shot Codex that may write, because it never asks', () => {
  const launch = codex.launches.oneshot?.launch
  const start = (sandbox: 'read-only' | 'workspace-write') =>
    startOf('oneshot', {
      policy: { approval: 'auto-all', sandbox, tools: { denied: ['apply_patch'] } },
      prompt: { text: 'go', images: [] },
    })
  expect(() => launch?.(start('workspace-write'))).toThrow(
    'its one-shot launch patches files without approval',
  )
})

test('a denied server keeps its own transport if the settings define it, and is a disabled stub otherwise', () => {
  const tools = { denied: ['mcp:docs', 'mcp:mine'] }
  const codec = wire('live', { policy: { approval: 'ask', sandbox: 'none', tools } })
  codec.command({ type: 'open' })
  const [, read] = written(codec.hear({ id: 'c1', result: {} }))
  expect(read).toMatchObject({ method: 'config/read', params: { cwd: '/project' } })
  const config = { mcp_servers: { mine: { command: 'x' } } }
  expect(written(codec.hear({ id: 'c2', result: { config } }))).toMatchObject([
    {
      method: 'thread/start',
      params: {
        config: { mcp_servers: { docs: { command: 'false', enabled: false }, mine: { enabled: false } } },
      },
    },
  ])
})

describe('an MCP server that the settings of Codex may define', () => {
  const session = { docs: { command: 'd' } }
  const start = (denied: string[]) =>
    startOf('oneshot', {
      policy: { approval: 'auto-all', sandbox: 'full-access', tools: { denied } },
      options: { mcpServers: session },
      prompt: { text: 'go', images: [] },
    })

  test.each(['mcp:mine', 'mcp:mine/search'])('one-shot refuses to deny %s', (name) => {
    const refusal = expect.objectContaining({
      code: 'unsupported_option',
      message:
        'tools.denied is not supported by codex: only its live launch tells which servers its settings define',
    })
    expect(() => codex.launches.oneshot?.launch(start([name]))).toThrow(refusal)
  })

  test.each([
    ['mcp:docs/search', 'disabled_tools=["search"]'],
    ['mcp:docs', 'enabled=false'],
  ])('one-shot denies %s of the session', (name, setting) => {
    expect(codex.launches.oneshot?.launch(start([name]))).toMatchObject({
      argv: expect.arrayContaining([`--config=mcp_servers.docs={command="d",${setting}}`]),
    })
  })

  test('live disables it if a denied server of the session has the same name', () => {
    const policy: Policy = { approval: 'ask', sandbox: 'none', tools: { denied: ['mcp:docs'] } }
    const codec = wire('live', { policy, options: { mcpServers: session } })
    codec.command({ type: 'open' })
    codec.hear({ id: 'c1', result: {} })
    const config = { mcp_servers: { docs: { url: 'https://example.com' } } }
    expect(written(codec.hear({ id: 'c2', result: { config } }))).toMatchObject([
      { method: 'thread/start', params: { config: { mcp_servers: { docs: { enabled: false } } } } },
    ])
  })
})

describe('only some tools exist', () => {
  const mcpServers = { own: { command: 'o', includeTools: ['a', 'b'] }, left: { command: 'l' } }
  const settings = {
    mcp_servers: {
      mine: { command: 'm' },
      docs: { command: 'd', enabled_tools: ['search', 'read'] },
      whole: { command: 'w' },
      'not a name': { command: 'x' },
    },
  }

  function threadWith(tools: Policy['tools']) {
    const policy: Policy = { approval: 'auto-all', sandbox: 'full-access', tools }
    const codec = wire('live', { policy, options: { mcpServers } })
    codec.command({ type: 'open' })
    const [, read] = written(codec.hear({ id: 'c1', result: {} }))
    expect(read).toMatchObject({ method: 'config/read' })
    const [opened] = written(codec.hear({ id: 'c2', result: { config: settings } }))
    return opened
  }

  test('Codex gets no other tool, and no other server of the session or of its own settings', () => {
    const available = ['execute', 'mcp:own/a', 'mcp:docs/search', 'mcp:docs/write', 'mcp:whole']
    expect(threadWith({ available })).toMatchObject({
      method: 'thread/start',
      params: {
        // Patches cannot be removed: Codex asks for each, and the session denies it.
        approvalPolicy: 'untrusted',
        config: {
          features: { view_image: false, multi_agent: false, apps: false, plugins: false },
          web_search: 'disabled',
          tools: { update_plan: { enabled: false } },
          mcp_servers: {
            own: { command: 'o', enabled_tools: ['a'] },
            mine: { enabled: false },
            docs: { enabled_tools: ['search'] },
          },
        },
      },
    })
    const config = JSON.stringify(threadWith({ available }))
    expect(config).not.toContain('shell_tool')
    for (const name of ['left', 'whole', 'not a name']) expect(config).not.toContain(name)
  })

  test('a denied tool or server stays denied', () => {
    const tools = { available: ['execute', 'mcp:docs', 'mcp:whole'], denied: ['mcp:docs/read', 'mcp:whole'] }
    expect(threadWith(tools)).toMatchObject({
      params: {
        config: {
          mcp_servers: {
            mine: { enabled: false },
            docs: { enabled_tools: ['search', 'read'], disabled_tools: ['read'] },
            whole: { enabled: false },
          },
        },
      },
    })
  })

  test('without any tool, all are removed', () => {
    expect(threadWith({ available: [] })).toMatchObject({
      params: { config: { features: { shell_tool: false }, mcp_servers: { mine: { enabled: false } } } },
    })
  })
})
