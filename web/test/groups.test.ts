import { expect, test } from 'vitest'
import type { SessionRecord } from '../../src/model/index.ts'
import { groupsOf, matches, silenceOf, titleOf } from '../src/inbox/groups.ts'

const base: SessionRecord = {
  id: 'x',
  principal: 'local',
  agent: 'demo',
  launch: 'live',
  cwd: '/work/shop',
  policy: { approval: 'ask', sandbox: 'none' },
  options: {},
  attended: true,
  status: 'idle',
  createdAt: 0,
  updatedAt: 0,
  head: 1,
  turns: 0,
  queue: [],
  requests: [],
  usage: {},
  frames: 0,
  epoch: 0,
}
const request: SessionRecord['requests'][number] = {
  type: 'request.opened',
  requestId: 'r',
  kind: 'permission',
  blocking: true,
  inputDigest: 'd',
  options: [],
}

test('sessions with open requests come first, the longest waiting at the top', () => {
  const records: SessionRecord[] = [
    { ...base, id: 'done', updatedAt: 9 },
    { ...base, id: 'busy', status: 'busy' },
    { ...base, id: 'asks-late', status: 'busy', requests: [request], updatedAt: 5 },
    { ...base, id: 'asks', status: 'busy', requests: [request], updatedAt: 2 },
    { ...base, id: 'policy', status: 'busy', requests: [{ ...request, answeredBy: 'policy' }] },
    { ...base, id: 'ended', status: 'ended', updatedAt: 10 },
  ]
  const { asking, running, done } = groupsOf(records)
  const ids = (some: readonly SessionRecord[]) => some.map(({ id }) => id)
  expect([ids(asking), ids(running), ids(done)]).toEqual([
    ['asks', 'asks-late'],
    ['busy', 'policy'],
    ['ended', 'done'],
  ])
})

test('silence of a running turn is counted by the clock, once it is remarkable', () => {
  const busy: SessionRecord = { ...base, status: 'busy', updatedAt: 1_000 }
  expect(silenceOf(busy, 60_000)).toBeUndefined()
  expect(silenceOf(busy, 191_000)).toBe(190_000)
  expect(silenceOf({ ...busy, silentSince: 500 }, 191_000)).toBe(190_500)
  expect(silenceOf({ ...busy, status: 'idle' }, 191_000)).toBeUndefined()
})

test('a session is found by its words and named by its first line', () => {
  expect(matches({ ...base, title: 'Fix the cart' }, 'cart demo')).toBe(true)
  expect(matches(base, 'cart')).toBe(false)
  expect(titleOf({ ...base, title: 'One\nTwo' })).toBe('One')
  expect(titleOf({ ...base, name: 'cart', title: 'One' })).toBe('cart')
  expect(titleOf(base)).toBe('demo session')
})
