import { expect, test } from 'vitest'
import type { Event } from '../../../src/model/index.ts'
import { settledTurn } from '../../../src/sessions/turns/settled-turn.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sessionId, state } from '../../stores/sqlite-parts.ts'

const ID = sessionId(1)
const WINDOW = 512

const started = (turn: number): [number, Event] => [turn, { type: 'turn.started', turn, origin: 'prompt' }]
const text = (turn: number, text: string, parent?: string): [number, Event] => [
  turn,
  { type: 'text.completed', messageId: `m-${text}`, text, ...(parent !== undefined && { parent }) },
]
const ended = (turn: number, result?: string): [number, Event] => [
  turn,
  {
    type: 'turn.completed',
    turn,
    outcome: 'completed',
    durationMs: 1,
    denials: 0,
    ...(result !== undefined && { result }),
  },
]
const filler = (turn: number, count: number): [number, Event][] =>
  Array.from({ length: count }, (_, index) => [
    turn,
    { type: 'output.written', stream: 'stdout', line: `${index}` },
  ])

async function stored(events: readonly [number, Event][]) {
  const store = memoryStore()
  const entries = events.map(([turn, event], index) => ({ seq: index + 1, session: ID, turn, at: 0, event }))
  await store.create(ID, { entries, record: state(ID) })
  return store
}
const resultOf = async (events: readonly [number, Event][], turn = 1) =>
  (await settledTurn(await stored(events), ID, turn))?.result

test('the reported result wins over the last message', async () => {
  expect(await resultOf([started(1), text(1, 'said'), ended(1, 'reported')])).toBe('reported')
})

test('without a reported result, the last message of the main thread in this turn is the result', async () => {
  const events = [
    started(1),
    text(1, 'first'),
    text(1, 'last'),
    text(1, 'of a sub-agent', 'tool-1'),
    ended(1),
  ]
  expect(await resultOf([...events, started(2), text(2, 'of another turn'), ended(2)])).toBe('last')
})

test.each([WINDOW - 3, WINDOW - 2, WINDOW - 1, WINDOW, 3 * WINDOW])(
  'the last message is found %i entries before the end of its turn',
  async (count) => {
    const events = [started(1), text(1, 'far away'), ...filler(1, count), ended(1)]
    expect(await resultOf([...events, ...filler(2, 700)])).toBe('far away')
  },
)

test('a turn without a message has no result, and none of an earlier turn', async () => {
  const events = [started(1), text(1, 'earlier'), ended(1), started(2), ...filler(2, 2 * WINDOW), ended(2)]
  expect(await settledTurn(await stored(events), ID, 2)).toEqual(ended(2)[1])
})

test('nothing before the start of the turn is read', async () => {
  const store = await stored([...filler(1, 5 * WINDOW), started(2), ended(2)])
  const read = store.read.bind(store)
  const reads: number[] = []
  store.read = (session, after, ...limits) => {
    reads.push(after)
    return read(session, after, ...limits)
  }
  await settledTurn(store, ID, 2)
  expect(reads).toEqual([4 * WINDOW + 2])
})

test('an unknown turn, a session without a log and a trimmed end are undefined', async () => {
  const store = await stored([started(1), text(1, 'said'), ended(1), ...filler(2, 10)])
  expect(await settledTurn(store, ID, 3)).toBeUndefined()
  expect(await settledTurn(store, sessionId(2), 1)).toBeUndefined()
  await store.trim(ID, { seq: 3 })
  expect(await settledTurn(store, ID, 1)).toEqual(ended(1)[1])
  await store.trim(ID, { seq: 4 })
  expect(await settledTurn(store, ID, 1)).toBeUndefined()
})
