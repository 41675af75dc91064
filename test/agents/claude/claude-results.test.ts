import { expect, test } from 'vitest'
import { assistant, half, halfText, init, openTalk, result, stream, Talk } from './claude-talk.ts'

const says = (id: string, text: string, more = {}) => assistant(id, { type: 'text', text }, more)
const lifecycle = (command_uuid: string, state: string) => ({
  type: 'command_lifecycle',
  command_uuid,
  state,
})
const names = (...user_message_uuids: string[]) => ({
  user_message_uuid: user_message_uuids[0],
  user_message_uuids,
})

/** The texts of each turn, by its number. */
function textsOf(talk: Talk): Record<string, string[]> {
  const texts: Record<string, string[]> = {}
  for (const { event, turn } of talk.entries) {
    if (event.type !== 'text.completed') continue
    const key = turn ?? 'none'
    texts[key] = [...(texts[key] ?? []), event.text]
  }
  return texts
}

const answer = (n: number) => [init(), says(`m${n}`, `answer ${n}`), result({ result: `answer ${n}` })]

test('a second result for one prompt does not end the turn after it', () => {
  const talk = new Talk()
  for (const turn of [1, 2, 3]) {
    talk.prompt(`prompt ${turn}`, `p${turn}`)
    // The extra result of the turn before arrives once the next prompt is sent.
    if (turn > 1) talk.hear(result({ result: `answer ${turn - 1}` }))
    talk.hear(...answer(turn))
  }
  expect(textsOf(talk)).toEqual({ 1: ['answer 1'], 2: ['answer 2'], 3: ['answer 3'] })
  expect(talk.only('turn.completed').map(({ turn, result }) => [turn, result])).toEqual([
    [1, 'answer 1'],
    [2, 'answer 2'],
    [3, 'answer 3'],
  ])
  expect(talk.only('turn.started').every(({ origin }) => origin === 'prompt')).toBe(true)
  expect(talk.only('notice.raised')).toMatchObject([{ code: 'late_frame' }, { code: 'late_frame' }])
})

test('a result between turns is a notice and starts nothing', () => {
  const talk = openTalk()
  talk.hear(says('m1', 'answer'), result({ result: 'answer' }))
  expect(talk.hear(result({ result: 'answer' }))).toMatchObject([
    { type: 'notice.raised', code: 'late_frame', data: { result: 'answer' } },
  ])
})

test('an agent that prints one init for all its turns is understood', () => {
  const talk = new Talk()
  talk.prompt('one', 'p1')
  talk.hear(init(), says('m1', 'one'), result({ result: 'one' }))
  talk.prompt('two', 'p2')
  talk.hear(result({ result: 'one' }), says('m2', 'two'), result({ result: 'two' }))
  expect(textsOf(talk)).toEqual({ 1: ['one'], 2: ['two'] })
  expect(talk.only('turn.completed').map(({ result }) => result)).toEqual(['one', 'two'])
})

test('a result that names another prompt does not end a started turn', () => {
  const talk = new Talk()
  talk.prompt('one', 'p1')
  talk.hear(lifecycle('p1', 'started'), init(names('p1')), says('m1', 'one', names('p1')))
  talk.hear(result({ result: 'one', ...names('p1') }))
  talk.prompt('two', 'p2')
  talk.hear(lifecycle('p2', 'started'), init(names('p2')), result({ result: 'one', ...names('p1') }))
  expect(talk.only('turn.completed')).toHaveLength(1)
  talk.hear(says('m2', 'two', names('p2')), result({ result: 'two', ...names('p2') }))
  expect(talk.only('turn.completed').at(-1)).toMatchObject({ turn: 2, result: 'two' })
})

test('a result that names our prompt ends its turn, with nothing before it', () => {
  const talk = openTalk()
  talk.hear(result())
  talk.prompt('two', 'p2')
  talk.hear(result({ result: 'two', ...names('p2') }))
  expect(talk.only('turn.completed').at(-1)).toMatchObject({ turn: 2, result: 'two' })
})

test('a prompt that joined the turn is one of those its result may name', () => {
  const talk = new Talk()
  talk.prompt('one', 'p1')
  talk.hear(lifecycle('p1', 'started'), init(names('p1')), says('m1', 'one', names('p1')))
  talk.tell({ type: 'steer', text: 'also', promptId: 'p2' })
  talk.hear(lifecycle('p2', 'started'), result({ result: 'both', ...names('p2') }))
  expect(talk.only('turn.completed')).toMatchObject([{ turn: 1, result: 'both' }])
})

test('text of an earlier prompt is not text of the next turn, whole or in pieces', () => {
  const talk = new Talk()
  talk.prompt('one', 'p1')
  talk.hear(lifecycle('p1', 'started'), init(names('p1')), result({ result: 'one', ...names('p1') }))
  talk.prompt('two', 'p2')
  const [start, ...pieces] = half('m1', halfText('late'))
  talk.hear({ ...start, ...names('p1') }, ...pieces)
  talk.hear(stream({ type: 'message_delta', usage: { input_tokens: 5 } }), says('m1', 'late words'))
  talk.hear(lifecycle('p2', 'started'), init(names('p2')), says('m2', 'two', names('p2')))
  talk.hear(result({ result: 'two', ...names('p2') }))
  expect(textsOf(talk)).toEqual({ 2: ['two'] })
  expect(talk.only('text.delta')).toEqual([])
  expect(talk.only('usage.reported')).toEqual([])
  expect(talk.only('notice.raised')).toMatchObject([{ code: 'late_frame', message: 'late words' }])
})

test('without ids, a message before the init of a turn belongs to none', () => {
  const talk = new Talk()
  for (const turn of [1, 2]) {
    talk.prompt(`prompt ${turn}`)
    talk.hear(...answer(turn))
  }
  talk.prompt('prompt 3')
  talk.hear(says('m2', 'late'), result({ result: 'late' }), ...answer(3))
  expect(textsOf(talk)).toEqual({ 1: ['answer 1'], 2: ['answer 2'], 3: ['answer 3'] })
  expect(talk.only('notice.raised')).toMatchObject([{ message: 'late' }, { data: { result: 'late' } }])
})

test('a repeated result line does not end a turn that has just started', () => {
  const talk = openTalk()
  const line = result({ uuid: 'line-1', result: 'one' })
  talk.hear(says('m1', 'one'), line)
  talk.prompt('two')
  talk.hear(init(), line, says('m2', 'two'), result({ uuid: 'line-2', result: 'two' }))
  expect(talk.only('turn.completed').map(({ result }) => result)).toEqual(['one', 'two'])
})

test('text between turns opens no turn', () => {
  const talk = openTalk()
  talk.hear(result())
  expect(talk.hear(says('m2', 'more'))).toMatchObject([{ code: 'late_frame', message: 'more' }])
  expect(talk.only('turn.started')).toHaveLength(1)
})
