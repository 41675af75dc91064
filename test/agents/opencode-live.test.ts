import { beforeEach, describe, expect, test } from 'vitest'
import { done, type Talk, working } from './opencode-talk.ts'

let talk: Talk
beforeEach(() => {
  talk = working()
})

describe('a session that works', () => {
  test('takes a word while it works, and tells when it is read', () => {
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

  test('says so when a word was not taken, and works on', () => {
    talk.command({ type: 'steer', text: 'shorter' })
    talk.http('steer', 400, { name: 'BadRequest', data: { message: 'no' } })
    expect(talk.of('notice.raised')).toMatchObject([{ code: 'protocol_refused' }])
    expect(talk.of('turn.completed')).toEqual([])
  })

  test('answers in the form that was asked for, and the next turn begins without it', () => {
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
