import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ItemIterator } from '../../src/library/item-iterator.ts'

interface Item {
  n: number
}

async function* stream(sizes: readonly number[], ended: () => void = () => undefined) {
  let n = 0
  try {
    for (const size of sizes) yield Array.from({ length: size }, (): Item => ({ n: n++ }))
  } finally {
    ended()
  }
}

const copy = (item: Item): Item => ({ ...item })
const sizes = fc.array(fc.nat(5), { maxLength: 8 })
const counted = (count: number) => Array.from({ length: count }, (_, n) => n)

test('yields every item once and in order, for any batch sizes', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, async (given) => {
      const seen: number[] = []
      for await (const { n } of new ItemIterator(stream(given), copy)) seen.push(n)
      expect(seen).toEqual(counted(given.reduce((sum, size) => sum + size, 0)))
    }),
  )
})

test('concurrent calls of next resolve in the order of the calls', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, async (given) => {
      const items = new ItemIterator(stream(given), copy)
      const total = given.reduce((sum, size) => sum + size, 0)
      const results = await Promise.all(Array.from({ length: total + 2 }, () => items.next()))
      expect(results.flatMap(({ done, value }) => (done || !value ? [] : [value.n]))).toEqual(counted(total))
      expect(results.slice(total).map(({ done }) => done)).toEqual([true, true])
    }),
  )
})

test('leaving the loop ends the stream and drops the rest of the batch', async () => {
  let ended = 0
  const items = new ItemIterator(
    stream([3, 3], () => ended++),
    copy,
  )
  for await (const { n } of items) if (n === 1) break
  expect(ended).toBe(1)
  expect(await items.next()).toEqual({ done: true, value: undefined })
})

test('a stream that throws rejects the pending call and then ends', async () => {
  async function* broken() {
    yield [{ n: 0 }]
    throw new Error('broken')
  }
  const items = new ItemIterator<Item>(broken(), copy)
  expect(await items.next()).toEqual({ done: false, value: { n: 0 } })
  const [first, second] = await Promise.allSettled([items.next(), items.next()])
  expect(first).toMatchObject({ status: 'rejected' })
  expect(second).toEqual({ status: 'fulfilled', value: { done: true, value: undefined } })
})
