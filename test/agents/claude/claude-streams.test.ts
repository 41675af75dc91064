import { expect, test } from 'vitest'
import { eventsIn } from './claude-recordings.ts'
import {
  assistant,
  call,
  eventsOf,
  half,
  halfText,
  init,
  openTalk,
  result,
  returned,
  stream,
  system,
  used,
} from './claude-talk.ts'

const CHILD = { parent_tool_use_id: 'tA' }
const says = (id: string, text: string, more = {}) => assistant(id, { type: 'text', text }, more)
const piece = (text: string, more = {}) =>
  stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, more)
const stop = (more = {}) => stream({ type: 'message_stop' }, more)
const stepOf = (input: number, output: number, more = {}) =>
  stream({ type: 'message_delta', usage: used(input, output) }, more)
const ofChild = (frames: readonly object[]) => frames.map((frame) => ({ ...frame, ...CHILD }))

test('streamed output of a sub-agent is separate, and the main message continues', () => {
  const talk = openTalk()
  talk.hear(
    ...half('A', halfText('main ')),
    ...ofChild(half('C', halfText('child'))),
    says('C', 'child', CHILD),
    stepOf(5, 5, CHILD),
    stop(CHILD),
    piece('rest'),
    says('A', 'main rest'),
    stepOf(7, 1),
    stop(),
  )
  expect(talk.only('message.discarded')).toEqual([])
  expect(talk.only('text.delta')).toEqual([
    { type: 'text.delta', messageId: 'A:0', text: 'main ' },
    { type: 'text.delta', messageId: 'C:0', text: 'child', parent: 'tA' },
    { type: 'text.delta', messageId: 'A:0', text: 'rest' },
  ])
  expect(talk.only('text.completed')).toEqual([
    { type: 'text.completed', messageId: 'C:0', text: 'child', parent: 'tA' },
    { type: 'text.completed', messageId: 'A:0', text: 'main rest' },
  ])
  // What the sub-agent used is no part of the turn's own figures.
  expect(talk.only('usage.reported')).toMatchObject([{ scope: 'step', input: 7, output: 1 }])
})

test('the draft of a call of a sub-agent names the sub-agent', () => {
  const talk = openTalk()
  const draft = { type: 'tool_use', id: 't1', name: 'Bash', input: {} }
  talk.hear(...ofChild(half('C', [draft, { type: 'input_json_delta', partial_json: '{' }])))
  expect(talk.only('tool.input.delta')).toMatchObject([{ toolId: 't1', delta: '{', parent: 'tA' }])
})

test('a message that starts before the end of another replaces it', () => {
  const talk = openTalk()
  talk.hear(...half('A', halfText('Hel')), ...half('B', halfText('Hello')), says('B', 'Hello'), stop())
  talk.hear(result({ result: 'Hello' }))
  expect(talk.only('message.discarded')).toEqual([
    { type: 'message.discarded', messageId: 'A:0', reason: 'stream_broken' },
  ])
  expect(talk.only('text.completed')).toEqual([{ type: 'text.completed', messageId: 'B:0', text: 'Hello' }])
})

test('a sub-agent that outlives the turn continues its message', () => {
  const talk = openTalk()
  talk.hear(
    call('tA', 'Agent', {}),
    system('task_started', { tool_use_id: 'tA', task_type: 'local_agent', is_backgrounded: true }),
    returned('tA', 'started'),
    ...ofChild(half('C', halfText('chi'))),
    result(),
    piece('ld', CHILD),
    says('C', 'child', CHILD),
  )
  expect(talk.only('text.completed')).toEqual([
    { type: 'text.completed', messageId: 'C:0', text: 'child', parent: 'tA' },
  ])
})

const lifecycle = { type: 'command_lifecycle', command_uuid: 'p1', state: 'queued' }

/** An open turn that is steered during a call. */
function steered(...before: object[]) {
  const talk = openTalk()
  talk.hear(...before, call('t1'))
  talk.tell({ type: 'steer', text: 'wait', promptId: 's1' })
  return talk
}

test.each([
  ['streamed', half('B', halfText('Yes'))],
  ['whole', [says('B', 'Yes')]],
])('a version without prompt starts has folded a prompt by the next message, %s', (_, next) => {
  const talk = steered()
  talk.hear(returned('t1', 'ok'), ...next)
  expect(talk.only('turn.steered')).toEqual([
    { type: 'turn.steered', turn: 1, prompt: 'wait', effect: 'folded' },
  ])
  talk.hear(result(), init(), result())
  expect(talk.only('turn.started')).toMatchObject([{ turn: 1 }, { turn: 2, origin: 'agent' }])
})

test('a prompt that no call has ended after is not folded, but the next turn', () => {
  const talk = openTalk()
  talk.hear(...half('A', halfText('Hel')))
  talk.tell({ type: 'steer', text: 'wait', promptId: 's1' })
  talk.hear(...half('B', halfText('Hello')), says('B', 'Hello'), stop(), result(), init())
  expect(talk.only('turn.steered')).toEqual([])
  expect(talk.only('turn.started').at(-1)).toMatchObject({ turn: 2, origin: 'prompt', prompt: 'wait' })
})

test('a result of a sub-agent, or another block of the message that calls, folds nothing', () => {
  const talk = openTalk()
  talk.hear(...half('A', halfText('Hel')), call('t1'))
  talk.tell({ type: 'steer', text: 'wait', promptId: 's1' })
  talk.hear(returned('tC', 'ok', CHILD), says('B', 'Hi'))
  talk.hear(...half('A', halfText('Hel')), returned('t1', 'ok'), says('A', 'Hello'))
  expect(talk.only('turn.steered')).toEqual([])
})

test('a version that reports prompt starts is awaited', () => {
  const talk = steered(lifecycle)
  talk.hear(returned('t1', 'ok'), ...half('B', halfText('Yes')))
  expect(talk.only('turn.steered')).toEqual([])
})

test('2.1.197: a prompt during a tool joins the turn', () => {
  const events = eventsIn('claude-2.1.197/bidi_steer_tool')
  expect(eventsOf(events, 'turn.steered')).toEqual([
    { type: 'turn.steered', turn: 1, prompt: 'By the way: PINEAPPLE.', effect: 'folded' },
  ])
})
