import { expect, test } from 'vitest'
import { asks, chunk, result, Talk, update } from '../../agents/acp/acp-talk.ts'

const tool = (status: string) =>
  update(status === 'pending' ? 'tool_call' : 'tool_call_update', { toolCallId: 't1', title: 'ls', status })

/** Interrupts the open turn as the engine does. */
function interrupt(talk: Talk): void {
  talk.conversation.setCause('interrupt')
  talk.tell({ type: 'interrupt' })
}

function ended(talk: Talk): Talk {
  talk.hear(result(3, { stopReason: 'end_turn' }))
  return talk
}

test('a cancel that stopped a call is an interrupt, although the agent says end_turn', () => {
  const talk = new Talk().begin()
  talk.hear(tool('pending'))
  interrupt(talk)
  talk.hear(tool('failed'))
  expect(ended(talk).only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
  expect(talk.only('notice.raised')).toEqual([])
})

test('a call that is left open by a cancel is cancelled, and its turn interrupted', () => {
  const talk = new Talk().begin()
  talk.hear(tool('pending'))
  interrupt(talk)
  expect(ended(talk).only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
  expect(talk.only('tool.completed')).toMatchObject([{ status: 'cancelled', settled: true }])
})

test('a cancel that takes a request back is an interrupt', () => {
  const talk = new Talk().begin()
  talk.hear(asks(0, { toolCallId: 't1', title: 'rm' }))
  interrupt(talk)
  expect(ended(talk).only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
})

test('a cancelled turn without any answer is an interrupt', () => {
  const talk = new Talk().begin()
  interrupt(talk)
  expect(ended(talk).only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
})

test('a turn that had ended before the cancel reached it stays completed, with a notice', () => {
  const talk = new Talk().begin()
  talk.hear(tool('pending'), tool('completed'), chunk('done'))
  interrupt(talk)
  expect(ended(talk).only('turn.completed')).toMatchObject([{ outcome: 'completed', result: 'done' }])
  expect(talk.only('notice.raised')).toMatchObject([{ code: 'interrupt_refused' }])
})

test('a timeout that stopped a call is a timeout, although the agent says end_turn', () => {
  const talk = new Talk().begin()
  talk.hear(tool('pending'))
  talk.conversation.setCause('timeout')
  talk.tell({ type: 'interrupt' })
  expect(ended(talk).only('turn.completed')).toMatchObject([{ outcome: 'timeout' }])
})
