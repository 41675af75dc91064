import { afterEach, describe, expect, it, vi } from 'vitest'
import { processDriver } from '../../../src/drivers/process.ts'
import type { Frame } from '../../../src/framing/frame.ts'
import { MainstemError } from '../../../src/model/index.ts'
import type { LargeValue } from '../../../src/model/text/large-value.ts'
import {
  contextOf,
  expectNothingLeft,
  fakeAgent,
  memoryBlobs,
  PATIENT,
  plain,
  QUICK,
  readAll,
  readField,
  startFake,
  stateOf,
  untilBlocked,
} from '../fake-run.ts'

afterEach(expectNothingLeft)

const MEGABYTE = 1024 * 1024

const numbers = (frames: readonly Frame[]) =>
  frames.map(({ value }) =>
    typeof value === 'object' && value !== null && 'n' in value ? value.n : undefined,
  )

describe('the output of a process', () => {
  it('arrives whole and in order', async () => {
    const run = startFake('flood', '20000')
    expect(numbers(await readAll(run))).toEqual(Array.from({ length: 20_000 }, (_, n) => n))
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('arrives in batches, one per read', async () => {
    const run = startFake('burst', '20000')
    const frames: Frame[] = []
    let batches = 0
    for await (const batch of run.frames) {
      batches++
      frames.push(...batch)
    }
    expect(numbers(frames)).toEqual(Array.from({ length: 20_000 }, (_, n) => n))
    // 4 MB, of which a read brings what is there, 64 KiB at most.
    expect(batches).toBeLessThan(500)
  })

  it('applies backpressure from a slow reader to the child', async () => {
    const run = startFake('flood', '50000', { queueBytes: 64 * 1024 })
    expect(await untilBlocked(run.pid)).toBeLessThan(2 * MEGABYTE)
    expect(numbers(await readAll(run))).toEqual(Array.from({ length: 50_000 }, (_, n) => n))
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('is buffered for a reader that starts after the exit', async () => {
    // 133 KiB: more than the two chunks that Node takes by itself, and little enough for the child to exit.
    const run = startFake('burst', '675', { queueBytes: 1 })
    expect(await run.exit).toEqual({ code: 0 })
    expect(numbers(await readAll(run))).toEqual(Array.from({ length: 675 }, (_, n) => n))
  })

  it('is read to its end, even with a late start', async () => {
    // A process that was not scheduled for long finds its timers due before it looks at a pipe again.
    const timers = { sleep: () => Promise.resolve() }
    const run = startFake('burst', '675', { queueBytes: 1, timers })
    expect(await run.exit).toEqual({ code: 0 })
    expect(numbers(await readAll(run))).toEqual(Array.from({ length: 675 }, (_, n) => n))
  })

  it('can be read further after a reader stopped', async () => {
    const run = startFake('flood', '5000')
    const first: Frame[] = []
    for await (const batch of run.frames) {
      first.push(...batch)
      break
    }
    const rest = await readAll(run)
    expect(first.length).toBeGreaterThan(0)
    expect(numbers([...first, ...rest])).toEqual(Array.from({ length: 5_000 }, (_, n) => n))
    await run.exit
  })

  it('on stderr is as lossless, and much of it does not stop the child', async () => {
    const run = startFake('errors', '20000')
    const frames = await readAll(run)
    const errors = frames.filter(({ stream }) => stream === 'stderr')
    expect(errors.map(({ text }) => text.split(' ')[1])).toEqual(
      Array.from({ length: 20_000 }, (_, n) => `${n}`),
    )
    expect(frames.filter(({ stream }) => stream === 'stdout').map(({ value }) => value)).toEqual([
      { done: true },
    ])
    await run.exit
  })

  it('has a frame without a value for each line that is not JSON', async () => {
    const run = startFake('malformed', '10000')
    const frames = await readAll(run)
    expect(frames).toHaveLength(10_001)
    expect(frames.filter((frame) => !('value' in frame))).toHaveLength(10_000)
    expect(frames.at(-1)?.value).toEqual({ done: true })
    await run.exit
  })

  it('may end without a newline', async () => {
    const run = startFake('tail')
    const frames = await readAll(run)
    expect(frames).toContainEqual({ stream: 'stdout', text: '{"last":true}', value: { last: true } })
    expect(frames).toContainEqual({ stream: 'stderr', text: 'last words' })
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('keeps an incomplete last line', async () => {
    const run = startFake('cut')
    expect(await readAll(run)).toEqual([
      { stream: 'stdout', text: '{"whole":true}', value: { whole: true } },
      { stream: 'stdout', text: '{"half":' },
    ])
    expect(await run.exit).toEqual({ code: 3 })
  })

  it('may contain other line separators inside a line', async () => {
    const text = '{"text":"a\u2028b\u2029c\\u0000\ud83d\ude00"}'
    const run = startFake('bytes', Buffer.from(`${text}\n`).toString('hex'))
    expect(await readAll(run)).toEqual([{ stream: 'stdout', text, value: JSON.parse(text) }])
    await run.exit
  })
})

describe('a line over the limit', () => {
  const startLong = (megabytes: number, blobs = memoryBlobs(), maxLineBytes?: number) => {
    const driver = processDriver({ graces: QUICK, ...(maxLineBytes !== undefined && { maxLineBytes }) })
    return driver.start(fakeAgent('long', String(megabytes)), contextOf({ values: blobs.sink }))
  }

  it.each([
    ['plain text', 'long', { stream: 'stdout', text: '', blob: { id: 'blob-1', bytes: 200 * MEGABYTE } }],
    [
      'JSON',
      'largeJson',
      { value: { type: 'user', status: 'ok' }, large: [{ blob: { bytes: 200 * MEGABYTE } }] },
    ],
  ])('of 200 MB of %s is stored as a blob in order, with little memory', async (_, mode, expected) => {
    const blobs = memoryBlobs()
    const run = processDriver({ graces: QUICK }).start(
      fakeAgent(mode, '200'),
      contextOf({ values: blobs.sink }),
    )
    const before = process.memoryUsage().rss
    let peak = before
    const frames: Frame[] = []
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss)
    }, 5)
    for await (const batch of run.frames) frames.push(...batch)
    clearInterval(watch)
    expect(frames.map(plain)).toMatchObject([
      { value: { before: true } },
      expected,
      { value: { after: true } },
    ])
    expect(blobs.lengths).toEqual([200 * MEGABYTE])
    expect(peak - before).toBeLessThan(150 * MEGABYTE)
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('blocks the child too when it is not read', async () => {
    const blobs = memoryBlobs()
    const run = startLong(20, blobs, MEGABYTE)
    expect(await untilBlocked(run.pid)).toBeLessThan(4 * MEGABYTE)
    expect(await readAll(run)).toHaveLength(3)
    await run.exit
  })

  it('that the store rejects ends the run', async () => {
    const refuse = () => {
      throw new MainstemError('storage_failed', 'the disk is full')
    }
    const blobs = { open: () => ({ write: refuse, close: refuse, discard: refuse }) }
    const driver = processDriver({ graces: PATIENT, maxLineBytes: MEGABYTE })
    const run = driver.start(fakeAgent('endless'), contextOf({ values: blobs }))
    expect(await readAll(run)).toEqual([])
    expect(await run.exit).toEqual({
      signal: 'SIGINT',
      error: { code: 'storage_failed', message: 'the disk is full' },
    })
  })

  it('whose blob cannot be closed does not count as stored', async () => {
    const close = () => Promise.reject(new Error('the disk is gone'))
    const blobs = {
      sink: { open: () => ({ write: () => undefined, close, discard: () => undefined }) },
      lengths: [],
    }
    const run = startLong(2, blobs, MEGABYTE)
    expect((await readAll(run)).map(({ text }) => text)).not.toContain('')
    expect((await run.exit).error).toEqual({ code: 'storage_failed', message: 'the disk is gone' })
  })

  it('delays the exit until its blob is stored', async () => {
    const safe = Promise.withResolvers<LargeValue>()
    const blobs = {
      sink: { open: () => ({ write: () => undefined, close: () => safe.promise, discard: () => undefined }) },
      lengths: [],
    }
    const run = startLong(2, blobs, MEGABYTE)
    let settled = false
    const exit = run.exit.finally(() => {
      settled = true
    })
    const reading = readAll(run)
    const pid = run.pid
    await vi.waitFor(() => expect(stateOf(pid)).toBeUndefined(), 5_000)
    // Another run from start to end takes longer than what is left of this one.
    const other = startFake('tail')
    expect([await other.exit, settled]).toEqual([{ code: 0 }, false])
    safe.reject(new Error('the disk is gone'))
    expect((await exit).error).toEqual({ code: 'storage_failed', message: 'the disk is gone' })
    expect(await reading).not.toContainEqual({ stream: 'stdout', text: '' })
  })
})

describe('a process', () => {
  it('that is alive has neither finished its frames nor settled its exit', async () => {
    const run = startFake('hang')
    let settled = false
    void run.exit.then(() => {
      settled = true
    })
    await readField(run, 'ready')
    expect(settled).toBe(false)
    await run.stop()
    expect(await readAll(run)).toEqual([])
    await run.exit
  })
})
