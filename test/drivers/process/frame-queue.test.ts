import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameQueue } from '../../../src/drivers/process/frame-queue.ts'
import type { Frame } from '../../../src/framing/frame.ts'

const frame = (text: string): Frame => ({ stream: 'stdout', text })

async function readAll(queue: FrameQueue): Promise<string[]> {
  const texts: string[] = []
  for await (const batch of queue) texts.push(...batch.map(({ text }) => text))
  return texts
}

describe('the queue of frames', () => {
  it('keeps the order of ready and pending batches', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.array(fc.string()), fc.boolean())), async (batches) => {
        const queue = new FrameQueue(1)
        const reading = readAll(queue)
        for (const [texts, later] of batches) {
          const frames = texts.map(frame)
          queue.push(later ? Promise.resolve(frames) : frames, 10)
          if (later) await Promise.resolve()
        }
        queue.close()
        expect(await reading).toEqual(batches.flatMap(([texts]) => texts))
      }),
    )
  })

  it('does not hand out a batch without frames', async () => {
    const queue = new FrameQueue(1)
    queue.push([], 10)
    queue.push([frame('a')], 10)
    queue.close()
    const sizes: number[] = []
    for await (const batch of queue) sizes.push(batch.length)
    expect(sizes).toEqual([1])
  })

  it('is full at its limit, and resumes once when it is half empty', async () => {
    const queue = new FrameQueue(100)
    const told: string[] = []
    for (const text of ['a', 'b', 'c', 'd']) queue.push([frame(text)], 25)
    expect(queue.full).toBe(true)
    queue.whenRoom(() => told.push('room'))
    const reader = queue[Symbol.asyncIterator]()
    await reader.next()
    expect([queue.full, told]).toEqual([false, []])
    await reader.next()
    expect(told).toEqual(['room'])
    await reader.next()
    expect(told).toEqual(['room'])
  })

  it('joins the batches that wait into one, up to a quarter of its limit', async () => {
    const queue = new FrameQueue(100)
    for (const text of ['a', 'b', 'c', 'd', 'e']) queue.push([frame(text)], 10)
    queue.push(Promise.resolve([frame('f')]), 10)
    queue.push([frame('large')], 99)
    queue.close()
    const batches: string[] = []
    for await (const batch of queue) batches.push(batch.map(({ text }) => text).join(''))
    expect(batches).toEqual(['ab', 'cd', 'ef', 'large'])
  })

  it('has room at once when it is widened', () => {
    const queue = new FrameQueue(10)
    queue.push([frame('a')], 15)
    let told = 0
    queue.whenRoom(() => told++)
    queue.widen(10)
    expect([queue.full, told]).toEqual([false, 1])
  })
})
