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

describe('a form that the agent wants filled in', () => {
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
})
