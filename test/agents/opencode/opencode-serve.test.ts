import { beforeEach, describe, expect, test } from 'vitest'
import { type Command, DEFAULT_POLICY } from '../../../src/model/index.ts'
import { done, Talk, working } from './opencode-talk.ts'

let talk: Talk
beforeEach(() => {
  talk = working()
})

describe('a session that we drive', () => {
  test('is opened, and the prompt waits for its id', () => {
    const fresh = new Talk()
    fresh.prompt('Go')
    expect(fresh.calls).toEqual([
      { kind: 'http', method: 'POST', path: '/session', tag: 'session', body: {} },
    ])
    fresh.http('session', 200, { id: 'ses_1' })
    expect(fresh.calls[1]).toEqual({
      kind: 'http',
      method: 'POST',
      path: '/session/ses_1/prompt_async',
      tag: 'prompt',
      body: { parts: [{ type: 'text', text: 'Go' }] },
    })
    expect(fresh.of('session.updated')).toEqual([{ type: 'session.updated', nativeSessionId: 'ses_1' }])
  })

  test('is looked up when it is resumed', () => {
    const resumed = new Talk({}, {}, 'ses_old')
    expect(resumed.calls).toEqual([{ kind: 'http', method: 'GET', path: '/session/ses_old', tag: 'session' }])
  })

  test('has one turn per prompt, started by us', () => {
    talk.part({ id: 'prt_a', type: 'text', text: 'Hi', time: { start: 1, end: 2 } })
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    expect(talk.of('turn.started')).toEqual([
      { type: 'turn.started', turn: 1, origin: 'prompt', prompt: 'Go' },
    ])
    expect(talk.of('turn.completed')).toMatchObject([{ turn: 1, outcome: 'completed', result: 'Hi' }])
  })

  test('is not the first one that another client opens meanwhile', () => {
    const fresh = new Talk()
    fresh.prompt('Go')
    fresh.sse('session.created', { sessionID: 'ses_x', info: { id: 'ses_x', title: 'theirs' } })
    fresh.message('msg_x', 'assistant', {}, 'ses_x')
    fresh.part({ id: 'prt_x', type: 'text', text: 'theirs', time: { end: 1 } }, 'msg_x', 'ses_x')
    fresh.http('session', 200, { id: 'ses_1' })
    fresh.delta('prt_y', 'theirs', 'msg_x', 'ses_x')
    fresh.ask('per_x', 'call_x', 'ses_x')
    fresh.idle('ses_x')
    expect(fresh.events.map(({ type }) => type)).toEqual(['turn.started', 'session.updated'])
  })

  test('sends model, mode, effort, system prompt and images with the prompt', () => {
    const full = new Talk({}, { model: 'lab/a/b', effort: 'high', systemPrompt: { append: 'Be brief.' } })
    full.http('session', 200, { id: 'ses_1' })
    full.command({ type: 'set_policy', mode: 'plan' })
    full.command({ type: 'prompt', text: 'Go', images: [{ mimeType: 'image/png', data: 'AA==' }] })
    expect(full.calls[1]).toMatchObject({
      body: {
        parts: [
          { type: 'text', text: 'Go' },
          { type: 'file', mime: 'image/png', url: 'data:image/png;base64,AA==' },
        ],
        model: { providerID: 'lab', modelID: 'a/b' },
        agent: 'plan',
        variant: 'high',
        system: 'Be brief.',
      },
    })
  })

  test('uses the model that was set last', () => {
    const fresh = new Talk({}, { model: 'lab/old' })
    fresh.http('session', 200, { id: 'ses_1' })
    expect(fresh.command({ type: 'set_model', model: 'new' }).refused?.code).toBe('invalid_request')
    fresh.command({ type: 'set_model', model: 'lab/new' })
    fresh.prompt('Go')
    expect(fresh.calls[1]).toMatchObject({ body: { model: { providerID: 'lab', modelID: 'new' } } })
  })

  test('denies with its own rules what must never run', () => {
    const [opened] = new Talk({ tools: { denied: ['write', 'bash'] } }).calls
    expect(opened).toMatchObject({
      body: {
        permission: [
          { permission: 'edit', pattern: '*', action: 'deny' },
          { permission: 'bash', pattern: '*', action: 'deny' },
        ],
      },
    })
  })

  test.each<[Command, string]>([
    [{ type: 'prompt', text: 'more' }, 'conflict'],
    [{ type: 'set_policy' }, 'invalid_request'],
    [{ type: 'answer', requestId: 'e1.none', decision: 'allow' }, 'request_not_found'],
  ])('refuses %o while it works', (command, code) => {
    expect(talk.command(command).refused?.code).toBe(code)
  })

  test('applies a mode and a model with the next prompt, and another policy with the next process', () => {
    const policy = DEFAULT_POLICY
    expect(talk.command({ type: 'set_policy', mode: 'plan' }).applies).toBe('next_turn')
    expect(talk.command({ type: 'set_model', model: 'a/b' }).applies).toBe('next_turn')
    expect(talk.command({ type: 'set_policy', policy }).applies).toBe('next_turn')
    const other = { ...policy, approval: 'auto-edit' } as const
    expect(talk.command({ type: 'set_policy', policy: other }).applies).toBe('next_process')
  })

  test('is closed with the connection', () => {
    expect(talk.command({ type: 'close' }).writes).toEqual([{ kind: 'end' }])
  })
})

describe('calls that fail', () => {
  test('a session that is gone ends the turn that waited for it', () => {
    const resumed = new Talk({}, {}, 'ses_old')
    resumed.prompt('Go')
    resumed.http('session', 404, { name: 'NotFoundError', data: { message: 'Session not found: ses_old' } })
    expect(resumed.of('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'session_not_found', message: 'Session not found: ses_old' } },
    ])
    expect(resumed.command({ type: 'prompt', text: 'Again' }).refused?.code).toBe('session_not_found')
  })

  test('an id that could change a path is rejected', () => {
    const fresh = new Talk()
    fresh.prompt('Go')
    fresh.http('session', 200, { id: '../../permission' })
    expect(fresh.of('turn.completed')).toMatchObject([{ outcome: 'failed' }])
    expect(fresh.calls.length).toBe(1)
  })

  test('a prompt that the server does not take ends its turn', () => {
    const fresh = new Talk()
    fresh.http('session', 200, { id: 'ses_1' })
    fresh.prompt('Go')
    fresh.http('prompt', 500)
    expect(fresh.of('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'connection_failed' } },
    ])
  })

  test.each([
    ['abort', 'interrupt_refused'],
    ['answer', 'protocol_refused'],
  ])('a failed %s is a notice', (tag, code) => {
    talk.http(tag, 500)
    expect(talk.of('notice.raised')).toMatchObject([{ code, data: { status: 500 } }])
  })
})

describe('an interrupt', () => {
  test('aborts the session that works', () => {
    expect(talk.command({ type: 'interrupt' }).writes).toEqual([
      { kind: 'http', method: 'POST', path: '/session/ses_1/abort', tag: 'abort' },
    ])
  })

  test('before the session is open ends the turn, and its prompt is never sent', () => {
    const fresh = new Talk()
    fresh.prompt('Go')
    fresh.conversation.setCause('interrupt')
    fresh.command({ type: 'interrupt' })
    fresh.http('session', 200, { id: 'ses_1' })
    expect(fresh.of('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
    expect(fresh.calls.length).toBe(1)
  })

  test('of nothing does nothing', () => {
    const idle = new Talk()
    expect(idle.command({ type: 'interrupt' }).writes).toEqual([])
  })

  test('ends the turn at the idle after the last part, not at the first', () => {
    const aborted = { name: 'MessageAbortedError', data: { message: 'Aborted' } }
    talk.part({ id: 'prt_a', type: 'text', text: '', time: { start: 1 } })
    talk.delta('prt_a', 'Hal')
    talk.sse('session.error', { sessionID: 'ses_1', error: aborted })
    talk.idle()
    expect(talk.of('turn.completed')).toEqual([])
    talk.part({ id: 'prt_a', type: 'text', text: 'Hal', time: { start: 1, end: 2 } })
    talk.message('msg_a', 'assistant', { ...done, error: aborted })
    talk.idle()
    expect(talk.of('text.completed')).toMatchObject([{ text: 'Hal', partial: true }])
    expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
  })

  test('leaves no idle behind that could end the next turn', () => {
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    talk.prompt('Next')
    talk.idle()
    talk.message('msg_u2', 'user')
    talk.idle()
    expect(talk.of('turn.completed').length).toBe(1)
    talk.message('msg_a2', 'assistant', done)
    talk.idle()
    expect(talk.of('turn.completed').map(({ turn, outcome }) => [turn, outcome])).toEqual([
      [1, 'completed'],
      [2, 'completed'],
    ])
  })
})

describe('errors', () => {
  const error = { name: 'APIError', data: { message: 'overloaded', statusCode: 503 } }

  test('end the turn, even without a started answer', () => {
    const fresh = new Talk()
    fresh.http('session', 200, { id: 'ses_1' })
    fresh.prompt('Go')
    fresh.sse('session.error', { sessionID: 'ses_1', error })
    fresh.idle()
    expect(fresh.of('notice.raised')).toMatchObject([{ message: 'overloaded', data: { status: 503 } }])
    expect(fresh.of('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'connection_failed' } },
    ])
  })

  test('that it got over are notices and no more', () => {
    talk.message('msg_a', 'assistant', { ...done, error })
    talk.sse('session.error', { sessionID: 'ses_1', error })
    talk.message('msg_b', 'assistant', done)
    talk.idle()
    expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'completed' }])
  })

  test('between two turns end neither', () => {
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    talk.sse('session.error', { sessionID: 'ses_1', error })
    talk.prompt('Next')
    talk.idle()
    expect(talk.of('turn.completed').map(({ turn, outcome }) => [turn, outcome])).toEqual([[1, 'completed']])
  })
})

describe('frames out of order', () => {
  test('deltas wait until it is known whether they are text or reasoning', () => {
    talk.delta('prt_r', 'Let me ')
    talk.delta('prt_r', 'think.')
    expect(talk.of('text.delta')).toEqual([])
    talk.part({ id: 'prt_r', type: 'reasoning', text: '', time: { start: 1 } })
    expect(talk.of('thinking.delta').map(({ text }) => text)).toEqual(['Let me ', 'think.'])
  })

  test('parts wait until their author is known', () => {
    talk.part({ id: 'prt_q', type: 'text', text: 'A prompt', time: { start: 1, end: 2 } }, 'msg_q')
    talk.part({ id: 'prt_b', type: 'text', text: 'An answer', time: { start: 1, end: 2 } }, 'msg_b')
    talk.message('msg_q', 'user')
    talk.message('msg_b', 'assistant')
    expect(talk.of('text.completed').map(({ text }) => text)).toEqual(['An answer'])
  })

  test('unexplained frames are not lost when the turn ends', () => {
    talk.delta('prt_z', 'words')
    talk.part({ id: 'prt_q', type: 'text', text: 'Whose?', time: { start: 1 } }, 'msg_q')
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    expect(talk.of('text.completed')).toMatchObject([{ text: 'words', partial: true }])
    expect(talk.of('native.unmapped')).toMatchObject([{ frame: expect.stringContaining('Whose?') }])
  })

  test('a missed delta is replaced by the snapshot', () => {
    talk.part({ id: 'prt_a', type: 'text', text: '', time: { start: 1 } })
    talk.delta('prt_a', 'one ')
    talk.part({ id: 'prt_a', type: 'text', text: 'one two', time: { start: 1, end: 2 } })
    expect(talk.of('text.delta').map(({ text }) => text)).toEqual(['one ', 'two'])
    expect(talk.of('text.completed').map(({ text }) => text)).toEqual(['one two'])
  })

  test('frames after the end of their turn change nothing', () => {
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    const before = talk.events.length
    talk.message('msg_u', 'user', { summary: { title: 'Later' } })
    talk.message('msg_a', 'assistant', done)
    talk.part({ id: 'prt_l', type: 'text', text: 'late', time: { start: 1, end: 2 } })
    talk.delta('prt_l', 'later')
    talk.idle()
    expect(talk.events.length).toBe(before)
  })

  test('a prompt of another client joins the open turn, or starts one', () => {
    talk.message('msg_2', 'user')
    talk.part({ id: 'prt_2', type: 'text', text: 'Continue', synthetic: true }, 'msg_2')
    talk.part({ id: 'prt_3', type: 'text', text: 'And this' }, 'msg_2')
    expect(talk.of('turn.steered')).toEqual([
      { type: 'turn.steered', turn: 1, prompt: 'And this', effect: 'folded' },
    ])
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    talk.message('msg_4', 'user')
    talk.part({ id: 'prt_4', type: 'text', text: 'Alone' }, 'msg_4')
    expect(talk.of('turn.started').at(-1)).toEqual({
      type: 'turn.started',
      turn: 2,
      origin: 'prompt',
      prompt: 'Alone',
    })
  })
})

describe('documented frames without a recording', () => {
  test('a compacted context is reported', () => {
    talk.sse('session.compacted', { sessionID: 'ses_1' })
    expect(talk.of('context.compacted').length).toBe(1)
  })

  test('a removed part is discarded', () => {
    talk.part({ id: 'prt_a', type: 'text', text: '', time: { start: 1 } })
    talk.delta('prt_a', 'Hal')
    talk.sse('message.part.removed', { sessionID: 'ses_1', messageID: 'msg_a', partID: 'prt_a' })
    expect(talk.of('message.discarded')).toMatchObject([{ messageId: 'prt_a' }])
  })

  test('an error of the server itself ends nothing', () => {
    talk.sse('session.error', { error: { name: 'UnknownError', data: { message: 'a plugin broke' } } })
    expect(talk.of('notice.raised')).toMatchObject([{ level: 'error', message: 'a plugin broke' }])
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'completed' }])
  })
})

describe('the process', () => {
  test('its standard output is output, not protocol', () => {
    talk.conversation.frame({ stream: 'stdout', text: 'opencode server listening on http://127.0.0.1:4096' })
    expect(talk.of('output.written')).toMatchObject([{ stream: 'stdout' }])
    expect(talk.conversation.coverage.malformed).toBe(0)
  })

  test('that never came up is explained by its stderr', () => {
    const fresh = new Talk()
    fresh.prompt('Go')
    fresh.conversation.frame({ stream: 'stderr', text: '\u001b[91mError: \u001b[0mConfiguration is invalid' })
    fresh.conversation.exit({ code: 1 })
    expect(fresh.of('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'agent_not_ready', message: 'Error: Configuration is invalid' } },
    ])
  })
})
