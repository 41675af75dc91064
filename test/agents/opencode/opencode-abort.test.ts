import { beforeEach, describe, expect, test } from 'vitest'
import { decodeRecording } from '../../../src/compose/decode.ts'
import { call, done, Talk, working } from './opencode-talk.ts'

const aborted = { name: 'MessageAbortedError', data: { message: 'Aborted' } }

function interrupt(talk: Talk): void {
  talk.conversation.setCause('interrupt')
  talk.command({ type: 'interrupt' })
  talk.http('abort', 200)
}

const status = (talk: Talk, type: string) =>
  talk.sse('session.status', { sessionID: 'ses_1', status: { type } })

describe('an abort before any answer', () => {
  let talk: Talk
  beforeEach(() => {
    talk = new Talk()
    talk.http('session', 200, { id: 'ses_1' })
    talk.prompt('Go')
    talk.http('prompt', 204)
    talk.message('msg_u', 'user')
  })

  test('ends the turn at the next idle event, and the next prompt gets its own turn', () => {
    status(talk, 'busy')
    interrupt(talk)
    talk.idle()
    talk.idle()
    expect(talk.of('turn.completed')).toMatchObject([{ turn: 1, outcome: 'interrupted' }])
    // The same process may never answer the next prompt.
    expect(talk.conversation.unconfirmed).toBe(true)
    talk.prompt('Again')
    talk.message('msg_v', 'user')
    talk.part({ id: 'prt_v', type: 'text', text: 'Again' }, 'msg_v')
    status(talk, 'busy')
    talk.message('msg_b', 'assistant', { ...done, parentID: 'msg_v' })
    talk.idle()
    expect(talk.of('turn.steered')).toEqual([])
    expect(talk.of('turn.completed')).toMatchObject([{ turn: 1 }, { turn: 2, outcome: 'completed' }])
  })

  test('does not end work that had not started: it continues', () => {
    interrupt(talk)
    talk.idle()
    expect(talk.of('turn.completed')).toEqual([])
    status(talk, 'busy')
    talk.message('msg_a', 'assistant', done)
    talk.part({ id: 'prt_f', type: 'step-finish', reason: 'stop' })
    talk.idle()
    expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'completed' }])
  })

  test('ends the turn at an error after the idle event, and requires a new process', () => {
    interrupt(talk)
    talk.idle()
    const message = 'All fibers interrupted without error'
    talk.sse('session.error', { sessionID: 'ses_1', error: { name: 'UnknownError', data: { message } } })
    expect(talk.of('turn.completed')).toMatchObject([{ turn: 1, outcome: 'interrupted' }])
    expect(talk.of('notice.raised')).toEqual([])
    expect(talk.conversation.unconfirmed).toBe(true)
  })

  test.each([
    ['that nobody waits for', false],
    ['while the next prompt waits', true],
  ])('may leave an answer behind %s, which starts and ends no turn', (_name, next) => {
    status(talk, 'busy')
    interrupt(talk)
    talk.idle()
    if (next) talk.prompt('Again')
    const before = talk.events.length
    talk.message('msg_a', 'assistant', { parentID: 'msg_u' })
    talk.sse('session.error', { sessionID: 'ses_1', error: aborted })
    talk.message('msg_a', 'assistant', { ...done, parentID: 'msg_u', error: aborted })
    talk.idle()
    expect(talk.events.slice(before)).toEqual([])
  })
})

describe('an abort between two model calls', () => {
  const step = (reason: string) => ({ id: 'prt_f', type: 'step-finish', reason })

  test.each([
    ['tool-calls', 'interrupted'],
    ['stop', 'completed'],
  ])('after one that ended with %s is %s', (reason, outcome) => {
    const talk = working()
    talk.part(call('completed', { output: '', metadata: { exit: 0 } }))
    talk.part(step(reason))
    talk.message('msg_a', 'assistant', done)
    interrupt(talk)
    talk.idle()
    expect(talk.of('turn.completed')).toMatchObject([{ outcome }])
  })
})

test('an abort that the server refused ends nothing', () => {
  const talk = working()
  status(talk, 'busy')
  talk.command({ type: 'interrupt' })
  talk.http('abort', 500)
  talk.part({ id: 'prt_f', type: 'step-finish', reason: 'tool-calls' })
  talk.message('msg_a', 'assistant', done)
  talk.idle()
  expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'completed' }])
})

test('a transcript applies the abort of its own session only', () => {
  const sent = (path: string, body?: object) => ({ dir: 'in', msg: { method: 'POST', path, body } })
  const heard = (type: string, more: object = {}) => ({
    dir: 'out',
    msg: { id: 'evt', type, properties: { sessionID: 'ses_1', ...more } },
  })
  const parts = [{ type: 'text', text: 'Go' }]
  const outcomes = (aborts: string) => {
    const lines = [
      sent('/session', {}),
      heard('session.created', { info: { id: 'ses_1', title: 't', version: '1' } }),
      sent('/session/ses_1/prompt_async', { parts }),
      heard('message.updated', { info: { id: 'msg_u', role: 'user', time: { created: 1 } } }),
      heard('session.status', { status: { type: 'busy' } }),
      sent(`/session/${aborts}/abort`),
      heard('session.idle'),
    ]
    const stdout = [new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join('\n'))]
    const { entries } = decodeRecording({ agent: 'opencode', launch: 'live', stdout, stderr: [], exit: {} })
    return entries.flatMap(({ event }) => (event.type === 'turn.completed' ? [event.outcome] : []))
  }
  expect(outcomes('ses_1')).toEqual(['interrupted'])
  expect(outcomes('ses_x')).toEqual(['crashed'])
})
