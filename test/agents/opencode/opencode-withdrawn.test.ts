import { beforeEach, describe, expect, test } from 'vitest'
import { type Talk, working } from './opencode-talk.ts'

let talk: Talk
beforeEach(() => {
  talk = working()
})

describe('permissions', () => {
  test.each([
    ['once', 'allow'],
    ['always', 'allow'],
    ['reject', 'deny'],
  ])('answered by another client (%s) are withdrawn with the decision', (reply, decision) => {
    talk.ask('per_1', 'call_1')
    talk.sse('permission.replied', { sessionID: 'ses_1', requestID: 'per_1', reply })
    expect(talk.of('request.withdrawn')).toMatchObject([
      { requestId: 'e1.per_1', reason: 'answered_elsewhere', decision },
    ])
    const late = talk.command({ type: 'answer', requestId: 'e1.per_1', decision: 'allow' })
    expect(late.refused?.code).toBe('request_not_found')
  })

  test.each([
    [{ decision: 'allow', scope: 'session' }, 'always', 'agent'],
    [{ decision: 'deny' }, 'reject', 'agent'],
    [{ decision: 'allow', scope: 'session' }, 'reject', 'answered_elsewhere'],
    [{ decision: 'allow', scope: 'once' }, 'once', 'answered_elsewhere'],
  ] as const)(
    'decided by our answer to another (%o, %s) are withdrawn by the %s',
    (answer, reply, reason) => {
      talk.ask('per_1', 'call_1')
      talk.ask('per_2', 'call_2')
      talk.answer({ type: 'answer', requestId: 'e1.per_1', ...answer })
      talk.sse('permission.replied', { sessionID: 'ses_1', requestID: 'per_2', reply })
      expect(talk.of('request.withdrawn')).toMatchObject([{ requestId: 'e1.per_2', reason }])
    },
  )

  test('rejected by an abort of ours are withdrawn as interrupted', () => {
    talk.ask('per_1', 'call_1')
    talk.command({ type: 'interrupt' })
    talk.sse('permission.replied', { sessionID: 'ses_1', requestID: 'per_1', reply: 'reject' })
    expect(talk.of('request.withdrawn')).toMatchObject([{ reason: 'interrupted', decision: 'deny' }])
  })
})

test.each([
  ['question.replied', { answers: [['Red']] }, 'answered'],
  ['question.rejected', {}, 'deny'],
])('a question that another client answered (%s) is withdrawn', (type, more, decision) => {
  const questions = [{ question: 'Which colour?', options: [{ label: 'Red' }] }]
  talk.sse('question.asked', { id: 'que_1', sessionID: 'ses_1', questions })
  talk.sse(type, { sessionID: 'ses_1', requestID: 'que_1', ...more })
  expect(talk.of('request.withdrawn')).toMatchObject([{ reason: 'answered_elsewhere', decision }])
})
