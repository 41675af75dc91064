import { expect, test } from 'vitest'
import { SessionEvent } from '../../../src/dialects/board/board-event.ts'
import { board } from '../../../src/dialects/board.ts'
import type { Event } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf, projectAll } from '../entries.ts'
import { schema } from '../json-schema.ts'

const say = (...events: Event[]) =>
  SessionEvent.array()
    .parse(projectAll(board, entriesOf(SAMPLES['session.started'], SAMPLES['turn.started'], ...events)))
    .map(({ payload }) => payload)

const opened = (more: Partial<Extract<Event, { type: 'request.opened' }>> = {}): Event => ({
  ...SAMPLES['request.opened'],
  tool: 'Bash',
  input: { command: 'rm -r build' },
  ...more,
})

test('an open request explains why the agent waits, and how to answer', () => {
  expect(say(opened())).toMatchObject([
    {
      line: 'Waiting for an answer: Bash: rm -r build',
      request: {
        requestId: 'e1.0',
        toolName: 'Bash',
        arguments: { command: 'rm -r build' },
        answer: { method: 'POST', path: '/v1/sessions/3f0f4a8e-5f0a-4f57-9d5e-0c6a4d3b2a11/requests/e1.0' },
      },
    },
  ])
})

const answered = { type: 'request.resolved', requestId: 'e1.0', by: 'person' } as const

test.each<[Event, string, object]>([
  [
    { ...answered, decision: 'allow', principal: 'ann', client: 'page' },
    'Allowed: Bash: rm -r build',
    { requestId: 'e1.0', decision: 'allow', by: 'person', principal: 'ann', client: 'page' },
  ],
  [
    { type: 'request.withdrawn', requestId: 'e1.0', reason: 'interrupted' },
    'Request withdrawn: Bash: rm -r build',
    { requestId: 'e1.0', reason: 'interrupted' },
  ],
])('its end is a line too: %o', (event, line, request) => {
  expect(say(opened(), event, event).slice(1)).toEqual([{ line, request }])
})

test('a question without a tool is a request too, a policy decision is not', () => {
  const question = opened({ kind: 'question', tool: undefined, input: undefined })
  expect(say(question)).toMatchObject([{ line: 'Waiting for an answer: question' }])
  expect(say(opened({ answeredBy: 'policy' }), SAMPLES['request.resolved'])).toEqual([])
})

test('both are valid against the schema of the document', () => {
  const messages = projectAll(
    board,
    entriesOf(SAMPLES['turn.started'], opened(), SAMPLES['request.resolved']),
  )
  expect(messages).toHaveLength(2)
  expect(messages.map(schema('board-event.printed')).filter(Boolean)).toEqual([])
  expect(messages.map(schema('board-event')).filter(Boolean)).toEqual([])
})
