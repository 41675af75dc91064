import { describe, expect, test } from 'vitest'
import { DEFAULT_POLICY, type Policy, type Scope } from '../../../src/model/index.ts'
import { asks, eventsOf, failure, result, Talk, update } from './acp-talk.ts'

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

describe('answers', () => {
  const CALL = {
    toolCallId: 't',
    title: 'rm -r build',
    kind: 'execute',
    rawInput: { command: 'rm -r build' },
  }
  const selected = (id: number | string, optionId: string) => ({
    jsonrpc: '2.0',
    id,
    result: { outcome: { outcome: 'selected', optionId } },
  })

  test("a request is bound to its input and offers the agent's options", () => {
    const talk = new Talk().begin()
    const [request] = eventsOf(talk.hear(asks(0, CALL)), 'request.opened')
    expect(request).toMatchObject({
      requestId: 'e1.0',
      kind: 'permission',
      toolId: 't',
      tool: 'rm -r build',
      input: { command: 'rm -r build' },
      options: [
        { id: 'yes', effect: 'allow', scope: 'once' },
        { id: 'session', effect: 'allow', scope: 'session' },
        { id: 'no', effect: 'deny', scope: 'once' },
      ],
    })
  })

  test.each<[string, 'allow' | 'deny', Scope | undefined, string]>([
    ['allow', 'allow', undefined, 'yes'],
    ['allow for the session', 'allow', 'session', 'session'],
    ['deny', 'deny', undefined, 'no'],
    ['deny for ever', 'deny', 'always', 'no'],
  ])('%s chooses the option of that effect and scope', (_name, decision, scope, optionId) => {
    const talk = new Talk().begin()
    talk.hear(asks(0, CALL))
    expect(talk.answer('e1.0', { decision, ...(scope && { scope }) })).toEqual([selected(0, optionId)])
  })

  test.each<[string, Scope]>([
    ['Allow for this session', 'session'],
    ['Yes, allow all edits during this session', 'session'],
    ['Allow all server tools for this session', 'session'],
    ['Always allow', 'always'],
    ["Yes, and don't ask again for session-cleanup commands", 'always'],
    ["Yes, and don't ask again for echo for this session", 'always'],
    ['Always allow echo for this session', 'always'],
    ['session', 'always'],
  ])('%j lasts for the %s', (name, scope) => {
    const option = { optionId: 'o', name, kind: 'allow_always' }
    const [request] = eventsOf(new Talk().begin().hear(asks(0, CALL, [option])), 'request.opened')
    expect(request?.options).toMatchObject([{ scope }])
  })

  test('nothing wider than the answer is ever chosen', () => {
    const talk = new Talk().begin()
    talk.hear(asks(0, CALL))
    expect(talk.answer('e1.0', { decision: 'allow', scope: 'always' })).toEqual([
      { refused: 'unsupported_option' },
    ])
    const broad = [
      {
        optionId: 'proceed_always_server',
        name: 'Allow all server tools for this session',
        kind: 'allow_always',
      },
      { optionId: 'proceed_always_tool', name: 'Allow tool for this session', kind: 'allow_always' },
    ]
    const gemini = new Talk('gemini').begin()
    gemini.hear(asks('x', CALL, broad))
    expect(gemini.answer('e1.x', { decision: 'allow', scope: 'session' })).toEqual([
      selected('x', 'proceed_always_tool'),
    ])
  })

  test('without an option to deny, the request is cancelled', () => {
    const talk = new Talk().begin()
    talk.hear(asks(0, CALL, [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }]))
    expect(talk.answer('e1.0', { decision: 'deny' })).toEqual([
      { jsonrpc: '2.0', id: 0, result: { outcome: { outcome: 'cancelled' } } },
    ])
  })

  test('a refusal is remembered with who refused', () => {
    const talk = new Talk().begin()
    talk.hear(asks(0, CALL))
    talk.answer('e1.0', { decision: 'deny', by: 'policy' })
    talk.hear(
      update('tool_call_update', { toolCallId: 't', status: 'failed' }),
      result(3, { stopReason: 'end_turn' }),
    )
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: 'policy' }])
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'denied', denials: 1 }])
  })

  test('deny and stop is a no and a cancel, once', () => {
    const talk = new Talk().begin()
    talk.hear(asks(0, CALL))
    expect(talk.answer('e1.0', { decision: 'deny', interrupt: true })).toEqual([
      selected(0, 'no'),
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's1' } },
    ])
    expect(talk.tell({ type: 'interrupt' })).toEqual([])
  })

  test('an answer that the protocol cannot express is rejected', () => {
    const talk = new Talk().begin()
    talk.hear(asks(0, CALL))
    expect(talk.answer('e1.0', { decision: 'answered', answers: { a: ['b'] } })).toEqual([
      { refused: 'invalid_request' },
    ])
    expect(talk.answer('e1.9', { decision: 'allow' })).toEqual([{ refused: 'request_not_found' }])
    expect(talk.answer('e1.0', { decision: 'allow' })).toHaveLength(1)
    expect(talk.answer('e1.0', { decision: 'allow' })).toEqual([{ refused: 'request_not_found' }])
  })

  test('an id that is used again is a new request', () => {
    const talk = new Talk().begin()
    talk.hear(asks(0, CALL))
    talk.answer('e1.0', { decision: 'allow' })
    expect(eventsOf(talk.hear(asks(0, CALL)), 'request.opened')).toMatchObject([{ requestId: 'e1.0~2' }])
    expect(talk.answer('e1.0~2', { decision: 'allow' })).toEqual([selected(0, 'yes')])
  })

  test('a question about leaving a plan is a plan', () => {
    const talk = new Talk().begin()
    const emitted = talk.hear(asks(0, { toolCallId: 't', title: 'Ready to code?', kind: 'switch_mode' }))
    expect(eventsOf(emitted, 'request.opened')).toMatchObject([{ kind: 'plan' }])
  })

  test('a request that the agent cancels is withdrawn', () => {
    const talk = new Talk().begin()
    talk.hear(asks(5, CALL))
    expect(talk.hear({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 5 } })).toMatchObject(
      [{ type: 'request.withdrawn', requestId: 'e1.5', reason: 'agent' }],
    )
  })

  test.each(['fs/read_text_file', 'terminal/create', 'craft/drainMidTurnQueue', 'something/new'])(
    '%s is answered at once, so that the agent does not wait for ever',
    (method) => {
      expect(new Talk().begin().write({ jsonrpc: '2.0', id: 0, method, params: {} })).toEqual([
        { jsonrpc: '2.0', id: 0, error: { code: -32601, message: `Method not found: ${method}` } },
      ])
    },
  )
})

describe('other commands', () => {
  test('an interrupt cancels the turn and every open request', () => {
    const talk = new Talk().begin()
    talk.hear(asks(0, { toolCallId: 't', title: 'ls' }), asks(1, { toolCallId: 'u', title: 'ls' }))
    const cancelled = (id: number) => ({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'cancelled' } } })
    expect(talk.tell({ type: 'interrupt' })).toEqual([
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's1' } },
      cancelled(0),
      cancelled(1),
    ])
    expect(talk.only('request.withdrawn').map(({ reason }) => reason)).toEqual(['interrupted', 'interrupted'])
    talk.hear(result(3, { stopReason: 'cancelled' }))
    expect(talk.only('tool.completed').map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
  })

  test('an interrupt before the prompt was sent ends the turn, and the prompt is never sent', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.prompt()
    expect(talk.tell({ type: 'interrupt' })).toEqual([])
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
    talk.write(result(1, READY))
    expect(talk.write(result(2, { sessionId: 's1' }))).toEqual([])
  })

  test('steering is refused, and so is a prompt while a turn is open', () => {
    const talk = new Talk().begin()
    expect(talk.tell({ type: 'steer', text: 'left' })).toEqual([{ refused: 'unsupported_option' }])
    expect(talk.tell({ type: 'prompt', text: 'next' })).toEqual([{ refused: 'conflict' }])
  })

  test('images precede the text, if the agent accepts them', () => {
    const image = { mimeType: 'image/png', data: 'AA==' }
    const seeing = { ...READY, agentCapabilities: { promptCapabilities: { image: true } } }
    for (const [handshake, expected] of [
      [
        seeing,
        [
          { type: 'image', ...image },
          { type: 'text', text: 'look' },
        ],
      ],
      [READY, undefined],
    ] as const) {
      const talk = new Talk()
      talk.tell({ type: 'open' })
      talk.write(result(1, handshake))
      talk.write(result(2, { sessionId: 's1' }))
      const sent = talk.tell({ type: 'prompt', text: 'look', images: [image] })
      expect(sent).toEqual(
        expected
          ? [request(3, 'session/prompt', { sessionId: 's1', prompt: expected })]
          : [{ refused: 'unsupported_option' }],
      )
    }
  })

  test('images that wait for the handshake are refused when the agent turns out not to take them', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.conversation.begin(talk.conversation.accept(), 'look')
    talk.tell({ type: 'prompt', text: 'look', images: [{ mimeType: 'image/png', data: 'AA==' }] })
    talk.write(result(1, READY))
    expect(talk.write(result(2, { sessionId: 's1' }))).toEqual([])
    expect(talk.only('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'unsupported_option' } },
    ])
  })

  test('a mode is set by its name or by a policy', () => {
    const talk = new Talk().begin({ sessionId: 's1', modes: { ...MODES, currentModeId: 'default' } })
    expect(talk.tell({ type: 'set_policy', mode: 'yolo' })).toEqual([
      request(4, 'session/set_mode', { sessionId: 's1', modeId: 'yolo' }),
    ])
    const policy: Policy = { ...DEFAULT_POLICY, approval: 'auto-all' }
    expect(talk.tell({ type: 'set_policy', policy })).toEqual([
      request(5, 'session/set_mode', { sessionId: 's1', modeId: 'yolo' }),
    ])
    const readOnly: Policy = { ...DEFAULT_POLICY, sandbox: 'read-only' }
    expect(talk.tell({ type: 'set_policy', policy: readOnly })).toEqual([{ refused: 'unsupported_option' }])
    expect(talk.hear(failure(4, -32602, 'Invalid params'))).toMatchObject([
      { type: 'notice.raised', code: 'mode_refused' },
    ])
  })

  test('a model is set as an option, or by its own method where there is no such option', () => {
    const models = { currentModelId: 'a', availableModels: [{ modelId: 'a' }, { modelId: 'b' }] }
    const talk = new Talk().begin({ sessionId: 's1', models })
    expect(talk.tell({ type: 'set_model', model: 'b' })).toEqual([
      request(4, 'session/set_model', { sessionId: 's1', modelId: 'b' }),
    ])
    expect(talk.hear(result(4, {}))).toMatchObject([{ type: 'session.updated', model: 'b' }])
    expect(new Talk().begin().tell({ type: 'set_model', model: 'b' })).toEqual([
      { refused: 'unsupported_option' },
    ])
  })

  test('a setting that changes before the session is open needs another process', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    expect(talk.conversation.command({ type: 'set_model', model: 'b' }).applies).toBe('next_process')
  })

  test('the default model needs another process', () => {
    const talk = new Talk().begin()
    expect(talk.conversation.command({ type: 'set_model', model: null }).applies).toBe('next_process')
  })

  test('closing ends its input', () => {
    expect(new Talk().begin().tell({ type: 'close' })).toEqual(['end'])
  })
})
