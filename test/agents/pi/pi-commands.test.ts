import { describe, expect, test } from 'vitest'
import { codec } from '../../../src/agents/pi/codec.ts'
import { GATE_TITLE } from '../../../src/agents/pi/gate.ts'
import { answered, call, dialog, emitted, returned, runningTalk, settled, Talk, user } from './pi-talk.ts'

test('opening, a prompt and closing become the documented lines', () => {
  const talk = new Talk()
  expect(talk.tell({ type: 'open' })).toEqual([
    { id: 'c1', type: 'get_state' },
    { id: 'c2', type: 'get_available_models' },
    { id: 'c3', type: 'get_commands' },
  ])
  expect(talk.prompt('line one\nline two')).toEqual([
    { id: 'c4', type: 'prompt', message: 'line one\nline two' },
  ])
  expect(talk.tell({ type: 'close' })).toEqual(['end'])
})

test('images go along with their prompt', () => {
  const talk = new Talk()
  talk.conversation.begin(1)
  const images = [{ mimeType: 'image/png', data: 'AAAA' }]
  expect(talk.tell({ type: 'prompt', text: 'what is this?', images })).toMatchObject([
    { message: 'what is this?', images: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] },
  ])
})

test('a one-shot run reads its prompt from stdin, and no other command', () => {
  const policy = { approval: 'auto-all', sandbox: 'none' } as const
  const state = codec.initial({ launch: 'oneshot', cwd: '/', policy, options: {}, epoch: 1 })
  const images = [{ mimeType: 'image/png', data: 'AAAA' }]
  expect(codec.encode(state, { type: 'prompt', text: '--help' }).writes).toEqual([
    { kind: 'text', text: '--help' },
    { kind: 'end' },
  ])
  expect(codec.encode(state, { type: 'prompt', text: 'x', images }).refused?.code).toBe('unsupported_option')
  expect(codec.encode(state, { type: 'steer', text: 'x' }).refused?.code).toBe('unsupported_option')
  expect(codec.encode(state, { type: 'set_model', model: 'x/y' }).refused?.code).toBe('unsupported_option')
})

describe('a prompt that joins a turn', () => {
  test('is reported when the model receives it, not when it is sent', () => {
    const talk = runningTalk()
    expect(talk.tell({ type: 'steer', text: 'in French' })).toEqual([
      { id: 'c2', type: 'prompt', message: 'in French', streamingBehavior: 'steer' },
    ])
    expect(talk.hear(answered('prompt', 'c2', { disposition: 'queued' }))).toEqual([])
    const told = talk.hear(returned('t1', 'out'), user('in French'))
    expect(told.at(-1)).toMatchObject({ type: 'turn.steered', prompt: 'in French', effect: 'folded' })
  })

  test('that came too late starts a new turn', () => {
    const talk = runningTalk()
    talk.tell({ type: 'steer', text: 'after all', promptId: 'p2' })
    talk.hear(returned('t1', 'out'), ...emitted('done'), settled())
    const began = talk.hear(answered('prompt', 'c2', { disposition: 'started' }))
    expect(began).toMatchObject([{ type: 'turn.started', turn: 2, prompt: 'after all', promptId: 'p2' }])
    talk.hear({ type: 'agent_start' }, user('after all'), ...emitted('again'), settled())
    expect(talk.only('turn.completed').map(({ result }) => result)).toEqual(['done', 'again'])
    expect(talk.only('turn.steered')).toEqual([])
  })

  test('has no turn to join when none is open', () => {
    expect(new Talk().tell({ type: 'steer', text: 'x' })).toEqual([{ refused: 'conflict' }])
  })
})

describe('an interrupt', () => {
  test('clears the queue, so that nothing runs after it', () => {
    const talk = runningTalk()
    expect(talk.tell({ type: 'interrupt' })).toEqual([
      { id: 'c2', type: 'clear_queue' },
      { id: 'c3', type: 'abort' },
    ])
    talk.hear(returned('t1', 'Command aborted', { isError: true }), settled(true))
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'cancelled' }])
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
  })

  test('closes the dialogs first, because pi would wait for them', () => {
    const talk = runningTalk()
    talk.hear(dialog('d1', 'confirm', { title: 'Run it?', message: 'ls' }))
    expect(talk.tell({ type: 'interrupt' })).toEqual([
      { type: 'extension_ui_response', id: 'd1', cancelled: true },
      { id: 'c2', type: 'clear_queue' },
      { id: 'c3', type: 'abort' },
    ])
    expect(talk.only('request.withdrawn')).toMatchObject([{ requestId: 'e1.d1', reason: 'interrupted' }])
    expect(talk.answer('e1.d1', { decision: 'deny' })).toEqual([{ refused: 'request_not_found' }])
  })
})

describe('a dialog of an extension', () => {
  const asked = (method: string, more: object = {}) => {
    const talk = runningTalk()
    talk.hear(dialog('d1', method, { title: 'Which?', ...more }))
    return talk
  }
  const answer = (value: string) => ({ decision: 'answered' as const, answers: { d1: [value] } })
  const response = (more: object) => [{ type: 'extension_ui_response', id: 'd1', ...more }]

  test('is a question with the choices that it has', () => {
    expect(asked('select', { options: ['Red', 'Blue'] }).only('request.opened')).toMatchObject([
      {
        requestId: 'e1.d1',
        kind: 'question',
        blocking: true,
        toolId: 't1',
        questions: [{ id: 'd1', text: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }] }],
      },
    ])
    expect(asked('input', { placeholder: 'a name' }).only('request.opened')).toMatchObject([
      { data: { method: 'input', placeholder: 'a name' }, questions: [{ options: [], other: true }] },
    ])
  })

  test('is answered once, and not by an approval', () => {
    const talk = asked('select', { options: ['Red', 'Blue'] })
    expect(talk.answer('e1.d1', { decision: 'allow' })).toEqual([{ refused: 'invalid_request' }])
    expect(talk.answer('e1.d1', answer('Blue'))).toEqual(response({ value: 'Blue' }))
    expect(talk.answer('e1.d1', answer('Red'))).toEqual([{ refused: 'request_not_found' }])
  })

  test('accepts any text without choices, and is dismissed by a denial', () => {
    expect(asked('editor').answer('e1.d1', answer('a\nb'))).toEqual(response({ value: 'a\nb' }))
    expect(asked('input').answer('e1.d1', { decision: 'deny' })).toEqual(response({ cancelled: true }))
  })

  test('that is confirmed is answered with yes or no', () => {
    expect(asked('confirm').answer('e1.d1', answer('Yes'))).toEqual(response({ confirmed: true }))
    expect(asked('confirm').answer('e1.d1', answer('No'))).toEqual(response({ confirmed: false }))
  })

  test.each([
    ['person', 'completed'],
    ['policy', 'denied'],
  ] as const)('that a %s refuses denies the call it is about: %s', (by, outcome) => {
    const talk = asked('confirm')
    talk.answer('e1.d1', { decision: 'deny', by })
    talk.hear(
      returned('t1', 'Blocked', { isError: true, durationMs: undefined }),
      ...emitted('ok'),
      settled(),
    )
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: by }])
    expect(talk.only('turn.completed')).toMatchObject([{ outcome }])
  })

  test('names no call where several are open', () => {
    const talk = runningTalk()
    talk.hear(call('t2'), dialog('d1', 'confirm', { title: 'Go on?' }))
    expect(talk.only('request.opened')[0]).not.toHaveProperty('toolId')
  })
})

describe('a call at the gate', () => {
  const input = { path: 'a.txt', content: 'x' }
  const asked = (path = 'a.txt') => {
    const talk = runningTalk()
    const placeholder = JSON.stringify({ toolCallId: 't2', toolName: 'write', input: { ...input, path } })
    talk.hear(
      call('t2', 'write', { ...input, path }),
      dialog('d1', 'input', { title: GATE_TITLE, placeholder }),
    )
    return talk
  }
  const value = (answer: object) => [
    { type: 'extension_ui_response', id: 'd1', value: JSON.stringify(answer) },
  ]

  test('is a permission with its tool, its input and its file', () => {
    expect(asked().only('request.opened')).toMatchObject([
      {
        kind: 'permission',
        toolId: 't2',
        tool: 'write',
        toolKind: 'edit',
        input,
        locations: [{ path: 'a.txt' }],
      },
    ])
  })

  test.each(['~/a.txt', '@/etc/passwd', 'file:///etc/passwd', '~\u00a0'])(
    'names no file where only pi knows what %s means',
    (path) => {
      expect(asked(path).only('request.opened')[0]).not.toHaveProperty('locations')
    },
  )

  test('is allowed once, denied with a reason, and never answered as a question', () => {
    expect(asked().answer('e1.d1', { decision: 'allow' })).toEqual(value({ allow: true }))
    expect(asked().answer('e1.d1', { decision: 'deny', message: 'no' })).toEqual(
      value({ allow: false, reason: 'no' }),
    )
    expect(asked().answer('e1.d1', { decision: 'answered', answers: { d1: ['{"allow":true}'] } })).toEqual([
      { refused: 'invalid_request' },
    ])
  })

  test('runs with the input of the answer', () => {
    const talk = asked()
    const rewritten = { path: 'b.txt', content: 'y' }
    expect(talk.answer('e1.d1', { decision: 'allow', input: rewritten })).toEqual(
      value({ allow: true, input: rewritten }),
    )
    talk.hear(returned('t2', 'ok', { toolName: 'write' }))
    expect(talk.only('tool.updated')).toMatchObject([{ toolId: 't2', input: rewritten }])
    expect(talk.only('file.changed')).toMatchObject([{ path: 'b.txt', after: 'y' }])
  })

  test('with unreadable details is requested too', () => {
    const talk = runningTalk()
    talk.hear(dialog('d1', 'input', { title: GATE_TITLE, placeholder: 'not JSON' }))
    expect(talk.only('request.opened')).toMatchObject([{ kind: 'permission', tool: '?', toolKind: 'other' }])
  })
})

describe('another model', () => {
  const models = [
    { provider: 'one', id: 'small' },
    { provider: 'one', id: 'vendor/large' },
    { provider: 'two', id: 'small' },
  ]
  const talk = new Talk()
  talk.tell({ type: 'open' })
  talk.hear(answered('get_available_models', 'c2', { models }))

  test.each([
    ['two/small', 'two', 'small'],
    ['one/vendor/large', 'one', 'vendor/large'],
    ['vendor/large', 'one', 'vendor/large'],
    ['new/model', 'new', 'model'],
  ])('%s is set by provider and name', (model, provider, modelId) => {
    expect(talk.tell({ type: 'set_model', model })).toMatchObject([{ type: 'set_model', provider, modelId }])
  })

  test('must be named so that there is one', () => {
    expect(talk.tell({ type: 'set_model', model: 'small' })).toEqual([{ refused: 'invalid_request' }])
  })

  test('that pi does not have is a notice', () => {
    const refused = {
      type: 'response',
      command: 'set_model',
      id: 'x',
      success: false,
      error: 'Model not found: a/b',
    }
    expect(talk.hear(refused)).toMatchObject([{ type: 'notice.raised', code: 'mode_refused' }])
  })
})

test('a policy cannot be changed while it runs', () => {
  expect(new Talk().tell({ type: 'set_policy', mode: 'plan' })).toEqual([{ refused: 'unsupported_option' }])
})

test('a prompt that pi refuses ends its turn with the reason', () => {
  const talk = new Talk()
  talk.prompt()
  const error = 'No API key found for anthropic.'
  talk.hear({ type: 'response', command: 'prompt', id: 'c1', success: false, error })
  expect(talk.only('turn.completed')).toMatchObject([
    { outcome: 'failed', error: { code: 'authentication_failed', message: error } },
  ])
})

test('a session other than the requested one is rejected', () => {
  const talk = new Talk({ resume: 'abc' })
  talk.tell({ type: 'open' })
  talk.hear(answered('get_state', 'c1', { sessionId: 'abcdef' }))
  expect(talk.only('notice.raised')).toMatchObject([{ code: 'context_lost' }])
})
