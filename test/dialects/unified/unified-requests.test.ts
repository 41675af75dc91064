import { describe, expect, test } from 'vitest'
import type { Event } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { say } from './unified-say.ts'

const opened = (more: Partial<Extract<Event, { type: 'request.opened' }>> = {}): Event => ({
  ...SAMPLES['request.opened'],
  ...more,
})

const resolved = { type: 'request.resolved', requestId: 'e1.0' } as const

describe('an open request', () => {
  test('is an event with everything needed to answer', () => {
    const input = { command: 'rm -r build' }
    const options = [{ id: 'yes', label: 'Allow once', effect: 'allow', scope: 'once' } as const]
    expect(say(opened({ requestId: 'e1.a/b', toolId: 't1', tool: 'Bash', input, options }))).toEqual([
      {
        type: 'requestOpened',
        requestId: 'e1.a/b',
        kind: 'permission',
        blocking: true,
        toolId: 't1',
        toolName: 'Bash',
        arguments: input,
        options,
        inputDigest: SAMPLES['request.opened'].inputDigest,
        answer: {
          method: 'POST',
          path: '/v1/sessions/3f0f4a8e-5f0a-4f57-9d5e-0c6a4d3b2a11/requests/e1.a%2Fb',
        },
      },
    ])
  })

  test('for more than its call names that', () => {
    const more = { permission: 'network', data: { host: 'evil.example' }, locations: [{ path: '/etc' }] }
    expect(say(opened(more))[0]).toMatchObject(more)
  })

  test('with questions has them', () => {
    const questions = [{ id: 'q', text: 'Which?', options: [{ label: 'A' }] }]
    expect(say(opened({ kind: 'question', questions }))[0]).toMatchObject({ kind: 'question', questions })
  })

  test.each<[Event, object]>([
    [
      { ...resolved, decision: 'deny', by: 'person' },
      { decision: 'deny', by: 'person' },
    ],
    [
      { ...resolved, decision: 'allow', by: 'person', principal: 'ann', client: 'terminal' },
      { decision: 'allow', by: 'person', principal: 'ann', client: 'terminal' },
    ],
    [
      { type: 'request.withdrawn', requestId: 'e1.0', reason: 'answered_elsewhere', decision: 'allow' },
      { reason: 'answered_elsewhere', decision: 'allow' },
    ],
    [{ type: 'request.withdrawn', requestId: 'e1.0', reason: 'turn_ended' }, { reason: 'turn_ended' }],
  ])('is closed once: %o', (event, how) => {
    const messages = say(opened(), event, event)
    expect(messages.slice(1)).toEqual([{ type: 'requestClosed', requestId: 'e1.0', ...how }])
  })

  test.each(['policy', 'hook', 'nobody'] as const)(
    'that is not answered by a client (%s) is in entries of the log, and no client is asked',
    (answeredBy) => {
      const request = opened({ answeredBy })
      const decided = SAMPLES['request.resolved']
      const withdrawn = SAMPLES['request.withdrawn']
      expect(say(request, decided, request, withdrawn)).toEqual(
        [request, decided, request, withdrawn].map((event) => ({ type: 'logEntry', event })),
      )
    },
  )
})
