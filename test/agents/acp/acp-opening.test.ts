import { describe, expect, test } from 'vitest'
import { DEFAULT_POLICY, type Policy } from '../../../src/model/index.ts'
import { chunk, failure, result, Talk, update } from './acp-talk.ts'

const READY = { protocolVersion: 1, agentInfo: { name: 'nobody', version: '7' } }
const MODES = {
  currentModeId: 'auto',
  availableModes: [
    { id: 'default', name: 'Default' },
    { id: 'auto', name: 'Auto' },
    { id: 'yolo', name: 'YOLO' },
  ],
}

const request = (id: number, method: string, params: unknown) => ({ jsonrpc: '2.0', id, method, params })
const promptOf = (id: number, text = 'go') =>
  request(id, 'session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text }] })

describe('opening', () => {
  test('the handshake offers neither files nor terminals, and requests version 1', () => {
    expect(new Talk().tell({ type: 'open' })).toEqual([
      request(1, 'initialize', {
        protocolVersion: 1,
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          elicitation: { form: {} },
          session: { notices: {}, compaction: {} },
          subagents: {},
        },
        clientInfo: { name: 'mainstem', title: 'Mainstem', version: expect.any(String) },
      }),
    ])
  })

  test('a prompt waits for the handshake, the session and its settings', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    expect(talk.prompt()).toEqual([])
    expect(talk.write(result(1, READY))).toEqual([
      request(2, 'session/new', { cwd: '/project', mcpServers: [] }),
    ])
    expect(talk.write(result(2, { sessionId: 's1', modes: MODES }))).toEqual([
      request(3, 'session/set_mode', { sessionId: 's1', modeId: 'default' }),
    ])
    expect(talk.write(result(3, {}))).toEqual([promptOf(4)])
    expect(talk.only('session.updated')).toMatchObject([
      { agentVersion: '7' },
      { nativeSessionId: 's1', mode: 'auto' },
      { mode: 'default' },
    ])
  })

  test('a prompt during a pending setting waits for its response', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.write(result(1, READY))
    expect(talk.write(result(2, { sessionId: 's1', modes: MODES }))).toHaveLength(1)
    expect(talk.prompt()).toEqual([])
    expect(talk.write(result(3, {}))).toEqual([promptOf(4)])
  })

  test('a setting that the agent refuses ends what was opened with it, prompt or no prompt', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.write(result(1, READY))
    talk.write(result(2, { sessionId: 's1', modes: MODES }))
    expect(talk.write(failure(3, -32602, 'Invalid params'))).toEqual(['end'])
    expect(talk.only('notice.raised')).toMatchObject([{ code: 'mode_refused', data: { wish: 'default' } }])
    expect(talk.tell({ type: 'prompt', text: 'go' })).toEqual([{ refused: 'unsupported_option' }])
  })

  test("servers are passed to the session in the protocol's format", () => {
    const mcpServers = {
      local: { command: '/bin/x', args: ['-v'], env: { KEY: 'v' } },
      remote: { url: 'https://x.test/mcp', headers: { A: 'b' } },
    }
    const talk = new Talk('acp', { options: { mcpServers } })
    talk.tell({ type: 'open' })
    expect(talk.write(result(1, READY))).toEqual([
      request(2, 'session/new', {
        cwd: '/project',
        mcpServers: [
          { name: 'local', command: '/bin/x', args: ['-v'], env: [{ name: 'KEY', value: 'v' }] },
          { type: 'http', name: 'remote', url: 'https://x.test/mcp', headers: [{ name: 'A', value: 'b' }] },
        ],
      }),
    ])
  })

  test('model and effort are set before the first prompt', () => {
    const option = (id: string, category: string, ...values: string[]) => ({
      id,
      category,
      currentValue: values[0],
      options: values.map((value) => ({ value, name: value })),
    })
    const talk = new Talk('acp', { options: { model: 'big', effort: 'high' } })
    talk.tell({ type: 'open' })
    talk.prompt()
    talk.write(result(1, READY))
    const configOptions = [option('m', 'model', 'small', 'big'), option('e', 'thought_level', 'low', 'high')]
    expect(talk.write(result(2, { sessionId: 's1', configOptions }))).toEqual([
      request(3, 'session/set_config_option', { sessionId: 's1', configId: 'm', value: 'big' }),
    ])
    expect(talk.write(result(3, { configOptions }))).toEqual([
      request(4, 'session/set_config_option', { sessionId: 's1', configId: 'e', value: 'high' }),
    ])
    expect(talk.write(result(4, { configOptions }))).toEqual([promptOf(5)])
  })

  test.each([
    ['a model', { options: { model: 'huge' } }],
    ['an effort', { options: { effort: 'high' } }],
    ['a sandbox', { policy: { approval: 'ask', sandbox: 'read-only' } satisfies Policy }],
    ['a policy', { policy: { approval: 'ask', sandbox: 'workspace-write' } satisfies Policy }],
  ])('%s that the agent does not have ends the turn before the prompt is sent', (_what, start) => {
    const talk = new Talk('acp', start)
    talk.tell({ type: 'open' })
    talk.prompt()
    talk.write(result(1, READY))
    expect(talk.write(result(2, { sessionId: 's1', modes: MODES }))).toEqual(['end'])
    expect(talk.only('turn.completed')).toMatchObject([{ error: { code: 'unsupported_option' } }])
    expect(talk.tell({ type: 'prompt', text: 'again' })).toEqual([{ refused: 'unsupported_option' }])
  })

  test('an agent with the draft of the next version is rejected and closed', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.prompt()
    expect(talk.write(result(1, { protocolVersion: 2, info: { name: 'x', version: '1' } }))).toEqual(['end'])
    expect(talk.only('notice.raised')).toMatchObject([{ code: 'protocol_refused', level: 'error' }])
    expect(talk.only('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'protocol_error' } },
    ])
  })

  test.each([{}, null])('a new session without an id (%j) cannot be used', (opened) => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.prompt()
    talk.write(result(1, READY))
    expect(talk.write({ jsonrpc: '2.0', id: 2, result: opened })).toEqual(['end'])
    expect(talk.only('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'protocol_error' } },
    ])
  })

  test('a missing login ends the turn and names the ways to log in', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.prompt()
    talk.write(result(1, { ...READY, authMethods: [{ id: 'a', name: 'Log in with a browser' }] }))
    talk.write(failure(2, -32000, 'Authentication required'))
    expect(talk.only('turn.completed')).toMatchObject([
      {
        outcome: 'failed',
        error: { code: 'authentication_failed', message: 'Authentication required (Log in with a browser)' },
      },
    ])
  })
})

describe('resuming a session', () => {
  function resuming(agent = 'acp'): Talk {
    const talk = new Talk(agent, { resume: 's1' })
    talk.tell({ type: 'open', resume: 's1' })
    talk.prompt()
    expect(talk.write(result(1, { ...READY, agentCapabilities: { loadSession: true } }))).toEqual([
      request(2, 'session/load', { sessionId: 's1', cwd: '/project', mcpServers: [] }),
    ])
    return talk
  }

  test('history that arrives while a prompt waits is not an answer to it', () => {
    const talk = resuming()
    const call = { toolCallId: 't', title: 'ls', rawInput: { command: 'ls' }, status: 'completed' }
    talk.hear(chunk('Old words.'), update('tool_call', call), update('plan', { entries: [] }))
    expect(talk.write(result(2, {}))).toEqual([promptOf(3)])
    talk.hear(chunk('New words.'), result(3, { stopReason: 'end_turn' }))
    expect(talk.only('text.completed')).toMatchObject([{ text: 'New words.' }])
    expect(talk.only('tool.started')).toEqual([])
    expect(talk.only('plan.updated')).toEqual([])
  })

  test('an answer without content is an answer', () => {
    expect(resuming().write({ jsonrpc: '2.0', id: 2, result: null })).toEqual([promptOf(3)])
    const policy: Policy = { ...DEFAULT_POLICY, approval: 'auto-all' }
    const talk = new Talk('acp', { policy })
    talk.tell({ type: 'open' })
    talk.prompt()
    talk.write(result(1, READY))
    talk.write(result(2, { sessionId: 's1', modes: MODES }))
    expect(talk.write({ jsonrpc: '2.0', id: 3, result: null })).toEqual([promptOf(4)])
    expect(talk.only('session.updated').at(-1)).toMatchObject({ mode: 'yolo' })
    expect(talk.only('notice.raised')).toEqual([])
  })

  test('pictures of history are history', () => {
    const talk = resuming()
    const content = { type: 'image', data: 'AA==', mimeType: 'image/png' }
    const emitted = talk.hear(
      update('agent_message_chunk', { content }),
      update('agent_thought_chunk', { content }),
    )
    expect(emitted).toEqual([])
  })

  test('if history continues after the response, the prompt waits for its end', () => {
    const talk = resuming('gemini')
    const modes = { currentModeId: 'default', availableModes: [{ id: 'default' }] }
    expect(talk.write(result(2, { modes }))).toEqual([])
    expect(talk.write(chunk('Old words.'))).toEqual([])
    expect(talk.write(update('available_commands_update', { availableCommands: [] }))).toEqual([promptOf(3)])
    expect(talk.only('text.delta')).toEqual([])
  })

  test('a session that is not there ends the turn', () => {
    const talk = resuming()
    talk.write(failure(2, -32603, 'Internal error', { details: 'No such thing' }))
    expect(talk.only('notice.raised')).toMatchObject([{ code: 'resume_failed' }])
    expect(talk.only('turn.completed')).toMatchObject([{ error: { code: 'session_not_found' } }])
  })

  test('an agent that cannot load sessions does not silently start a new one', () => {
    const talk = new Talk('acp', { resume: 's1' })
    talk.tell({ type: 'open', resume: 's1' })
    talk.prompt()
    expect(talk.write(result(1, READY))).toEqual(['end'])
    expect(talk.only('turn.completed')).toMatchObject([{ error: { code: 'session_not_found' } }])
  })

  test('the cost of earlier turns is not counted again', () => {
    const talk = resuming()
    talk.write(result(2, {}))
    const cost = { amount: 0.5, currency: 'USD' }
    talk.hear(update('usage_update', { used: 1, size: 2, cost }), result(3, { stopReason: 'end_turn' }))
    expect(talk.only('turn.completed')[0]?.usage).toBeUndefined()
  })
})
