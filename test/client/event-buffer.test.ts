import { describe, expect, it } from 'vitest'
import { type AgentEvent, EventBuffer, type Timers } from '../../src/client/index.ts'
import { chunks, collect } from './scene.ts'

const events = chunks(9)

/** Counts how many were taken from it. */
function source(all: readonly AgentEvent[] = events) {
  const taken = { count: 0 }
  async function* run() {
    for (const event of all) {
      taken.count++
      yield event
    }
  }
  return { taken, events: run() }
}

/** Settles when nothing is left that could still run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a buffer', () => {
  it('hands on everything in order', async () => {
    for (const maxBufferSize of [1, 2, 100])
      expect(await collect(new EventBuffer({ maxBufferSize }).buffer(source().events))).toEqual(events)
  })

  it('reads no more from its source than its limit while it has no reader', async () => {
    const { taken, events: from } = source()
    const reader = new EventBuffer({ maxBufferSize: 3 }).batches(from)
    await reader.next()
    await settled()
    expect(taken.count).toBeLessThanOrEqual(1 + 3 + 1)
    await reader.return()
  })

  it('set to fail, does so at its limit', async () => {
    const reader = new EventBuffer({ maxBufferSize: 3, overflow: 'fail' }).batches(source().events)
    await reader.next()
    await settled()
    await expect(collect(reader)).rejects.toMatchObject({ type: 'protocolError' })
  })

  it('set to drop, drops the oldest and counts them', async () => {
    const buffer = new EventBuffer({ maxBufferSize: 3, overflow: 'dropOldest' })
    const reader = buffer.buffer(source().events)
    const { value: first } = await reader.next()
    await settled()
    const rest = await collect(reader)
    expect(first).toEqual(events[0])
    expect(rest).toEqual(events.slice(-rest.length))
    expect(1 + rest.length + buffer.dropped).toBe(events.length)
    expect(buffer.dropped).toBeGreaterThan(0)
  })

  it('gathers what comes within the interval', async () => {
    let flush = () => undefined as undefined
    const timers: Timers = {
      sleep: () =>
        new Promise((resolve) => {
          flush = () => resolve() as undefined
        }),
    }
    const reader = new EventBuffer({ flushInterval: 50, timers }).batches(source(events.slice(0, 4)).events)
    const batch = reader.next()
    await settled()
    flush()
    expect((await batch).value).toEqual(events.slice(0, 4))
    expect((await reader.next()).done).toBe(true)
  })

  it('is flushed before its time when it is full, or when its source has ended', async () => {
    const never: Timers = { sleep: () => new Promise(() => undefined) }
    const buffer = new EventBuffer({ maxBufferSize: 2, flushInterval: 50, timers: never })
    expect(await collect(buffer.buffer(source().events))).toEqual(events)
  })

  it('passes on the events before a failure of its source, and then the failure', async () => {
    async function* failing() {
      yield* events.slice(0, 2)
      throw new RangeError('broken')
    }
    const seen: AgentEvent[] = []
    const reading = (async () => {
      for await (const event of new EventBuffer().buffer(failing())) seen.push(event)
    })()
    await expect(reading).rejects.toThrow('broken')
    expect(seen).toEqual(events.slice(0, 2))
  })

  it('must hold at least one', () => {
    for (const maxBufferSize of [0, -1, 1.5])
      expect(() => new EventBuffer({ maxBufferSize })).toThrow(RangeError)
  })
})
