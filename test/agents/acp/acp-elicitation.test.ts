import { describe, expect, test } from 'vitest'
import { Talk } from './acp-talk.ts'

const schema = {
  type: 'object',
  properties: {
    colour: { type: 'string', title: 'Colour', enum: ['red', 'blue'] },
    count: { type: 'integer', description: 'How many?' },
  },
}

const form = (mode = 'form') => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'elicitation/create',
  params: { sessionId: 's', mode, message: 'Two things', requestedSchema: schema },
})

describe('an elicitation form', () => {
  test('is a question request, and the answer has the types of the form', () => {
    const talk = new Talk().begin()
    talk.hear(form())
    const [request] = talk.only('request.opened')
    expect(request).toMatchObject({
      kind: 'question',
      title: 'Two things',
      questions: [
        { id: 'colour', options: [{ label: 'red' }, { label: 'blue' }] },
        { id: 'count', text: 'How many?', other: true },
      ],
    })
    const answers = { colour: ['red'], count: ['3'] }
    expect(talk.answer(request?.requestId ?? '', { decision: 'answered', answers })).toMatchObject([
      { id: 7, result: { action: 'accept', content: { colour: 'red', count: 3 } } },
    ])
  })

  test('can be declined, and is cancelled with its turn', () => {
    const talk = new Talk().begin()
    talk.hear(form())
    const id = talk.only('request.opened')[0]?.requestId ?? ''
    expect(talk.answer(id, { decision: 'deny' })).toMatchObject([{ id: 7, result: { action: 'decline' } }])
    const other = new Talk().begin()
    other.hear(form())
    expect(other.tell({ type: 'interrupt' })).toContainEqual(
      expect.objectContaining({ id: 7, result: { action: 'cancel' } }),
    )
    expect(other.only('request.withdrawn')).toMatchObject([{ reason: 'interrupted' }])
  })

  test('is cancelled at once where it is to be shown elsewhere', () => {
    const talk = new Talk().begin()
    talk.hear(form('url'))
    expect(talk.only('request.opened')).toEqual([])
  })

  test('shows the message and the descriptions of a form with one question', () => {
    const talk = new Talk().begin()
    const oneOf = [
      { const: 'red', title: 'red', description: 'warm' },
      { const: 'b', title: 'Blue' },
    ]
    const other = { type: 'string', title: 'Other', description: 'Type your own answer' }
    const requestedSchema = { type: 'object', properties: { colour: { type: 'string', oneOf }, other } }
    talk.hear({ ...form(), params: { ...form().params, message: 'Which colour?', requestedSchema } })
    const [request] = talk.only('request.opened')
    expect(request?.questions).toEqual([
      {
        id: 'colour',
        text: 'Which colour?',
        options: [
          { label: 'red', description: 'warm' },
          { label: 'b', description: 'Blue' },
        ],
      },
      { id: 'other', header: 'Other', text: 'Type your own answer', options: [], other: true },
    ])
    const answers = { colour: ['b'], other: [] }
    expect(talk.answer(request?.requestId ?? '', { decision: 'answered', answers })).toMatchObject([
      { id: 7, result: { action: 'accept', content: { colour: 'b' } } },
    ])
  })
})

test('shows the question of a Codex form, which is the title of its field', () => {
  const talk = new Talk('codex-acp').begin()
  const properties = {
    choice: { type: 'string', title: 'Which colour?', description: 'Choice', enum: ['Red'] },
    note: { type: 'string', title: 'Additional note' },
  }
  const requestedSchema = { type: 'object', properties }
  talk.hear({ ...form(), params: { ...form().params, requestedSchema } })
  expect(talk.only('request.opened')[0]?.questions).toMatchObject([
    { id: 'choice', header: 'Choice', text: 'Which colour?' },
    { id: 'note', text: 'Additional note' },
  ])
})

test('reports each status of a compaction once', () => {
  const talk = new Talk().begin()
  const update = (compactionId: string, status: string, more: object = {}) => ({
    jsonrpc: '2.0',
    method: 'session/update',
    params: {
      sessionId: 's1',
      update: { sessionUpdate: 'compaction_update', compactionId, status, ...more },
    },
  })
  talk.hear(update('c1', 'in_progress'), update('c1', 'completed'), update('c1', 'completed', { _meta: {} }))
  expect(talk.only('context.compacted')).toHaveLength(1)
  talk.hear(update('c2', 'failed'), update('c2', 'failed', { error: 'too long' }))
  expect(talk.only('notice.raised').map(({ level, message }) => `${level}: ${message}`)).toEqual([
    'info: compaction of the context: in_progress',
    'warning: compaction of the context: failed',
    'warning: compaction of the context: failed: too long',
  ])
})
