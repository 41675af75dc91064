import { expect, test } from 'vitest'
import { done, Talk, working } from './opencode-talk.ts'

const summarize = {
  kind: 'http',
  method: 'POST',
  path: '/session/ses_1/summarize',
  tag: 'compact',
  body: { providerID: 'lab', modelID: 'org/large' },
  isLong: true,
}

/** A talk whose first turn has ended. */
function idle(options = { model: 'lab/org/large' }): Talk {
  const talk = working({}, options)
  talk.message('msg_a', 'assistant', done)
  talk.idle()
  return talk
}

/** The summary, as the server reports it. */
function summarised(talk: Talk): void {
  talk.message('msg_c', 'user')
  talk.part({ id: 'prt_c', type: 'compaction', auto: false }, 'msg_c')
  talk.message('msg_s', 'assistant', { summary: true })
  talk.part({ id: 'prt_s', type: 'text', text: 'We said Go.', time: { start: 1, end: 2 } }, 'msg_s')
  talk.message('msg_s', 'assistant', { summary: true, ...done })
  talk.sse('session.compacted', { sessionID: 'ses_1' })
  talk.idle()
}

test('/compact is a call, whose turn ends when the session is idle', () => {
  const talk = idle()
  talk.prompt('/compact')
  expect(talk.calls.at(-1)).toEqual(summarize)
  summarised(talk)
  talk.http('compact', 200, true)
  expect(talk.of('context.compacted')).toHaveLength(1)
  expect(talk.of('turn.completed').at(-1)).toMatchObject({ turn: 2, outcome: 'completed' })
  expect(talk.of('text.completed')).toEqual([])
  talk.prompt('And now?')
  expect(talk.calls.at(-1)).toMatchObject({ path: '/session/ses_1/prompt_async' })
})

test('the model is the one that was used last', () => {
  const talk = working()
  talk.sse('session.updated', {
    sessionID: 'ses_1',
    info: { id: 'ses_1', model: { providerID: 'lab', id: 'org/large' } },
  })
  talk.message('msg_a', 'assistant', done)
  talk.idle()
  talk.prompt('/compact')
  expect(talk.calls.at(-1)).toEqual(summarize)
})

test('without a model it is refused, and the session continues', () => {
  const talk = new Talk()
  talk.prompt('/compact')
  talk.http('session', 200, { id: 'ses_1' })
  expect(talk.of('turn.completed')).toMatchObject([
    {
      outcome: 'failed',
      error: { code: 'unsupported_option', message: expect.stringContaining('no model') },
    },
  ])
  talk.prompt('Go')
  expect(talk.calls.at(-1)).toMatchObject({ path: '/session/ses_1/prompt_async' })
})

test('a compaction that the server refuses fails its turn', () => {
  const talk = idle()
  talk.prompt('/compact')
  talk.http('compact', 400, { name: 'UnknownError', data: { message: 'nothing to compact' } })
  expect(talk.of('turn.completed').at(-1)).toMatchObject({
    outcome: 'failed',
    error: { message: 'nothing to compact' },
  })
})

test('an interrupt aborts it', () => {
  const talk = idle()
  talk.prompt('/compact')
  talk.command({ type: 'interrupt' })
  expect(talk.calls.at(-1)).toMatchObject({ path: '/session/ses_1/abort' })
})

test('a question about the command is a prompt', () => {
  const talk = idle()
  talk.prompt('What does /compact do?')
  expect(talk.calls.at(-1)).toMatchObject({ path: '/session/ses_1/prompt_async' })
})
