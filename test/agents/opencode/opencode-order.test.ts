import { expect, test } from 'vitest'
import { call, done, type Talk, working } from './opencode-talk.ts'

const start = { id: 'prt_x', type: 'text', text: '', time: { start: 1 } }
const ended = (text: string) => ({ ...start, text, time: { start: 1, end: 2 } })

/** A text that is still open when the call that follows it begins. */
function writing(): Talk {
  const talk = working()
  talk.part(start)
  talk.delta('prt_x', 'I will look.\n')
  talk.part(call('pending'))
  talk.part(call('running'))
  return talk
}

const words = (talk: Talk) =>
  talk.events.flatMap((event) =>
    event.type === 'text.completed'
      ? [`${event.messageId}: ${event.text}`]
      : event.type === 'tool.started'
        ? [event.toolId]
        : [],
  )

test('completes a text before the call that the model wrote after it', () => {
  const talk = writing()
  talk.part(ended('I will look.'))
  talk.part(call('completed', { output: '' }))
  expect(words(talk)).toEqual(['prt_x: I will look.\n', 'call_1'])
})

test('reports the end of a text that continues after the call as a message with another id', () => {
  const talk = writing()
  talk.delta('prt_x', 'And ')
  talk.part(ended('I will look.\nAnd wait.'))
  expect(words(talk)).toEqual(['prt_x: I will look.\n', 'call_1', 'prt_x~2: And wait.'])
  expect(talk.of('text.delta').map(({ text }) => text)).toEqual(['I will look.\n', 'And ', 'wait.'])
})

test('reports a text that a plugin rewrote after the call started', () => {
  const talk = writing()
  talk.part(ended('Looking.'))
  expect(words(talk)).toEqual(['prt_x: I will look.\n', 'call_1', 'prt_x~2: Looking.'])
})

test('leaves a text open that the model started after the call', () => {
  const talk = working()
  talk.part(call('pending'))
  talk.part(start)
  talk.delta('prt_x', 'It runs')
  talk.part(call('running'))
  talk.part(ended('It runs.'))
  expect(words(talk)).toEqual(['call_1', 'prt_x: It runs.'])
})

test('discards only the part of a text that a retry repeats', () => {
  const talk = writing()
  talk.delta('prt_x', 'And')
  talk.sse('session.status', { sessionID: 'ses_1', status: { type: 'retry', attempt: 1 } })
  talk.part(ended('I will look.\nAnd wait.'))
  talk.message('msg_a', 'assistant', done)
  expect(words(talk)).toEqual(['prt_x: I will look.\n', 'call_1'])
  expect(talk.of('message.discarded')).toMatchObject([{ messageId: 'prt_x~2' }])
})
