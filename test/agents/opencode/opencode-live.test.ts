import { beforeEach, describe, expect, test } from 'vitest'
import { call, done, type Talk, working } from './opencode-talk.ts'

let talk: Talk
beforeEach(() => {
  talk = working()
})

describe('a session that works', () => {
  test('accepts steering, and reports when it is read', () => {
    talk.command({ type: 'steer', text: 'shorter' })
    expect(talk.calls.at(-1)).toEqual({
      kind: 'http',
      method: 'POST',
      path: '/session/ses_1/prompt_async',
      tag: 'steer',
      body: { parts: [{ type: 'text', text: 'shorter' }] },
    })
    talk.http('steer', 204)
    talk.message('msg_s', 'user')
    talk.part({ id: 'prt_s', type: 'text', text: 'shorter' }, 'msg_s')
    talk.message('msg_a', 'assistant', done)
    talk.message('msg_b', 'assistant', done)
    talk.idle()
    expect(talk.of('turn.steered')).toEqual([
      { type: 'turn.steered', turn: 1, prompt: 'shorter', effect: 'folded' },
    ])
    expect(talk.of('turn.completed')).toHaveLength(1)
    expect(talk.command({ type: 'steer', text: 'late' }).refused?.code).toBe('conflict')
  })

  test('reports rejected steering, and continues', () => {
    talk.command({ type: 'steer', text: 'shorter' })
    talk.http('steer', 400, { name: 'BadRequest', data: { message: 'no' } })
    expect(talk.of('notice.raised')).toMatchObject([{ code: 'protocol_refused' }])
    expect(talk.of('turn.completed')).toEqual([])
  })

  test('answers with structured output, and the next turn starts without it', () => {
    const outputSchema = { type: 'object' }
    const formed = working({}, { outputSchema })
    expect(formed.calls.at(-1)).toMatchObject({
      body: { format: { type: 'json_schema', schema: outputSchema } },
    })
    formed.message('msg_a', 'assistant', { ...done, structured: { age: 36 } })
    formed.idle()
    formed.prompt('More')
    formed.message('msg_v', 'user')
    formed.message('msg_b', 'assistant', done)
    formed.idle()
    expect(formed.of('turn.completed').map(({ structured }) => structured)).toEqual([{ age: 36 }, undefined])
  })
})

test('a prompt without a waiting turn does not replace ours', () => {
  talk.message('msg_a', 'assistant', done)
  talk.idle()
  talk.message('msg_n', 'user')
  talk.prompt('Next')
  talk.message('msg_v', 'user')
  talk.sse('session.status', { sessionID: 'ses_1', status: { type: 'busy' } })
  talk.part({ id: 'prt_v', type: 'text', text: 'Next' }, 'msg_v')
  talk.part({ id: 'prt_n', type: 'text', text: 'A note' }, 'msg_n')
  expect(talk.of('turn.steered').map(({ prompt }) => prompt)).toEqual(['A note'])
})

describe('the end of a text', () => {
  const emit = (id: string, pieces: readonly string[], whole: string, type = 'text') => {
    talk.part({ id, type, text: '', time: { start: 1 } })
    for (const piece of pieces) talk.delta(id, piece)
    talk.part({ id, type, text: whole, time: { start: 1, end: 2 } })
  }

  test('is not trimmed after it was shown, so that nothing is shown twice', () => {
    emit('prt_r', ['Hm.', '\n\n'], 'Hm.', 'reasoning')
    emit('prt_a', ['Let me ', 'look.\n\n'], 'Let me look.')
    emit('prt_b', ['\n'], '')
    expect(talk.of('thinking.completed').map(({ text }) => text)).toEqual(['Hm.\n\n'])
    expect(talk.of('text.completed').map(({ text }) => text)).toEqual(['Let me look.\n\n', '\n'])
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    expect(talk.of('turn.completed')).toMatchObject([{ result: 'Let me look.\n\n' }])
  })

  test('is the complete text where that differs', () => {
    emit('prt_a', ['Let me look.'], 'Let me')
    expect(talk.of('text.completed').map(({ text }) => text)).toEqual(['Let me'])
  })
})

describe('a context that is compacted', () => {
  test('is reported; its summary is neither emitted nor the answer, but its usage counts', () => {
    talk.part({ id: 'prt_a', type: 'text', text: 'Half done', time: { start: 1, end: 2 } })
    talk.message('msg_a', 'assistant', done)
    talk.message('msg_k', 'user')
    talk.part({ id: 'prt_k', type: 'compaction', auto: true }, 'msg_k')
    talk.message('msg_s', 'assistant', { summary: true, mode: 'compaction' })
    talk.delta('prt_r', 'Wha', 'msg_s')
    talk.part({ id: 'prt_r', type: 'reasoning', text: '', time: { start: 1 } }, 'msg_s')
    talk.part({ id: 'prt_s', type: 'text', text: '', time: { start: 1 } }, 'msg_s')
    talk.delta('prt_s', 'What we did', 'msg_s')
    talk.part({ id: 'prt_s', type: 'text', text: 'What we did', time: { start: 1, end: 2 } }, 'msg_s')
    talk.part({ id: 'prt_f', type: 'step-finish', reason: 'stop', tokens: { input: 9, output: 1 } }, 'msg_s')
    talk.message('msg_s', 'assistant', { ...done, summary: true })
    talk.sse('session.compacted', { sessionID: 'ses_1' })
    talk.idle()
    expect(talk.of('text.completed').map(({ text }) => text)).toEqual(['Half done'])
    expect([...talk.of('text.delta'), ...talk.of('thinking.delta')]).toEqual([])
    expect(talk.of('context.compacted')).toHaveLength(1)
    expect(talk.of('native.unmapped')).toEqual([])
    expect(talk.of('turn.completed')).toMatchObject([{ result: 'Half done', usage: { total: 10 } }])
  })
})

test('the agent and the model that 1.17 switches to are updates of the session', () => {
  const switched = (what: string, sessionID: string, more: object) =>
    talk.sse(`session.next.${what}.switched`, { sessionID, messageID: 'msg_x', ...more })
  switched('agent', 'ses_1', { agent: 'plan' })
  switched('model', 'ses_1', { model: { id: 'small', providerID: 'scripted', variant: 'default' } })
  switched('model', 'ses_1', { model: { id: 'small', providerID: 'scripted' } })
  switched('agent', 'ses_other', { agent: 'build' })
  expect(talk.of('session.updated').slice(-2)).toEqual([
    { type: 'session.updated', mode: 'plan' },
    { type: 'session.updated', model: 'scripted/small' },
  ])
  expect(talk.of('native.unmapped')).toEqual([])
})

test('a call that names its change before its end is reported whole at its end', () => {
  const talk = working()
  const diff = '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n'
  const metadata = { diff, filediff: { file: '/project/a.txt', patch: diff } }
  const state = { input: { filePath: '/project/a.txt', oldString: 'one', newString: 'two' }, metadata }
  for (const status of ['running', 'completed'])
    talk.part({ ...call(status), tool: 'edit', state: { status, ...state, output: 'ok' } })
  expect(talk.of('file.changed')).toMatchObject([{ path: '/project/a.txt', diff }])
  expect(talk.of('native.unmapped')).toEqual([])
})
