import { expect, test } from 'vitest'
import { Talk } from './claude-talk.ts'

const rewind = (request_id: string, more: object = {}) => ({
  type: 'control_request',
  request_id,
  request: { subtype: 'rewind_files', user_message_id: 'p1', ...more },
})
const response = (request_id: string, answer: object) => ({
  type: 'control_response',
  response: { subtype: 'success', request_id, response: answer },
})

/** A talk whose open turn restores files. */
function rewinding() {
  const talk = new Talk()
  talk.conversation.begin(talk.conversation.accept(), '/rewind 1', 'p2')
  const asked = talk.tell({ type: 'prompt', text: '/rewind 1', promptId: 'p2', rewindTo: 'p1' })
  return { talk, asked }
}

test('a rewind is a trial run, which names the files, and then the real one', () => {
  const { talk, asked } = rewinding()
  expect(asked).toEqual([rewind('c1', { dry_run: true })])
  expect(talk.write(response('c1', { canRewind: true, filesChanged: ['/project/a', '/project/b'] }))).toEqual(
    [rewind('c2')],
  )
  talk.hear(response('c2', { canRewind: true, skippedLinks: 0 }))
  expect(talk.only('file.changed').map(({ path }) => path)).toEqual(['/project/a', '/project/b'])
  expect(talk.only('turn.completed')).toMatchObject([
    { outcome: 'completed', result: 'Restored 2 files:\n/project/a\n/project/b' },
  ])
})

test('a prompt without checkpoints fails its rewind, and changes nothing', () => {
  const { talk } = rewinding()
  const error = 'No file checkpoint found for this message.'
  const refusal = { subtype: 'error', request_id: 'c1', error }
  expect(talk.write({ type: 'control_response', response: refusal })).toEqual([])
  expect(talk.only('turn.completed')).toMatchObject([
    { outcome: 'failed', error: { code: 'conflict', message: error } },
  ])
  expect(talk.only('file.changed')).toEqual([])
})

test('a rewind that is not possible fails with the reason of the agent', () => {
  const { talk } = rewinding()
  talk.hear(response('c1', { canRewind: false, error: 'A file is locked.' }))
  expect(talk.only('turn.completed')).toMatchObject([{ error: { message: 'A file is locked.' } }])
})

test('an agent that exits during a rewind ends its turn', () => {
  const { talk } = rewinding()
  talk.exit({ code: 1 })
  expect(talk.only('turn.completed')).toHaveLength(1)
})
