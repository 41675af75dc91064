import { afterEach, describe, expect, it } from 'vitest'
import { driver } from '../../../src/drivers/index.ts'
import { contextOf, expectNothingLeft, memoryBlobs, QUICK, readAll, untilBlocked } from '../fake-run.ts'
import { fakeServer, startServer } from './server-runs.ts'

afterEach(expectNothingLeft)

const count = (body: number) =>
  ({ kind: 'http', method: 'POST', path: '/count', body, tag: 'count' }) as const

const numbers = (values: readonly unknown[]) =>
  values.flatMap((value) => (typeof value === 'object' && value !== null && 'n' in value ? [value.n] : []))

/** A server that nobody listens to yet, with little room for what it says. */
// With the usual graces: a server with much to write hears a signal late.
const startUnread = () => driver({ queueBytes: 64 * 1024 }).start(fakeServer('plain'), contextOf())

describe('the events of a server', () => {
  it('arrive whole and in order', async () => {
    const server = startServer('plain')
    await server.run.write(count(20_000))
    await server.until('"n":19999,')
    await server.run.stop()
    await server.ended
    expect(numbers(server.values('sse'))).toEqual(Array.from({ length: 20_000 }, (_, n) => n))
  })

  it('may be cut anywhere', async () => {
    const server = startServer('plain')
    const body = { text: 'äöü 漢字 🚀' }
    await server.run.write({ kind: 'http', method: 'POST', path: '/bytes', body })
    await server.until('🚀')
    await server.run.stop()
    await server.ended
    expect(server.values('sse')).toEqual([{ type: 'server.connected' }, body])
  })

  it('that are too large arrive in order, with their large text as a blob', async () => {
    const { sink, lengths } = memoryBlobs()
    const server = startServer('plain', { maxLineBytes: 64 * 1024 }, { values: sink })
    const part = { type: 'tool', output: 'ä'.repeat(50_000), status: 'completed' }
    const emit = (body: object) => server.run.write({ kind: 'http', method: 'POST', path: '/emit', body })
    await emit(part)
    await emit({ after: true })
    await server.until('after')
    await server.run.stop()
    await server.ended
    expect(server.values('sse')).toMatchObject([
      { type: 'server.connected' },
      {
        type: 'tool',
        output: expect.stringContaining('ä… [100000 bytes in blob blob-1]'),
        status: 'completed',
      },
      { after: true },
    ])
    expect(lengths).toEqual([100_000])
  })

  it('apply backpressure from a slow reader to the server', async () => {
    const run = startUnread()
    void run.write(count(100_000))
    // 24 MB in all: the rest has to wait in the server.
    expect(await untilBlocked(run.pid)).toBeLessThan(16 * 1024 * 1024)
    const frames: unknown[] = []
    for await (const batch of run.frames) {
      for (const { value, stream } of batch) {
        if (stream === 'sse') frames.push(value)
        if (stream === 'http') void run.stop()
      }
    }
    expect(numbers(frames)).toEqual(Array.from({ length: 100_000 }, (_, n) => n))
    expect(await run.exit).toEqual({ signal: 'SIGTERM' })
  })

  it('that are not read do not delay the end', async () => {
    const run = startUnread()
    void run.write(count(100_000))
    await untilBlocked(run.pid)
    await run.stop()
    expect(await run.exit).toEqual({ signal: 'SIGTERM' })
    expect((await readAll(run)).length).toBeGreaterThan(1)
  })

  it('that break off end the run, because missing events cannot be requested', async () => {
    const server = startServer('plain')
    await server.run.write(count(3))
    await server.run.write({ kind: 'http', method: 'GET', path: '/drop', tag: 'drop' })
    await server.ended
    expect(numbers(server.values('sse'))).toEqual([0, 1, 2])
    expect(await server.run.exit).toEqual({
      signal: 'SIGTERM',
      error: { code: 'connection_failed', message: 'the server closed its event stream' },
    })
  })

  it('that an exited server left are still delivered, also to a late reader', async () => {
    const run = startUnread()
    await run.write(count(2_000))
    void run.write({ kind: 'http', method: 'GET', path: '/die' })
    expect(await run.exit).toEqual({ code: 7 })
    const left = (await readAll(run)).flatMap(({ stream, value }) => (stream === 'sse' ? [value] : []))
    expect(numbers(left)).toEqual(Array.from({ length: 2_000 }, (_, n) => n))
    expect(left.at(-1)).toEqual({ last: 'words' })
  })

  it('that break off with the process end with its exit, after the last events', async () => {
    const server = startServer('plain')
    await server.run.write({ kind: 'http', method: 'GET', path: '/die' })
    await server.ended
    expect(server.values('sse').at(-1)).toEqual({ last: 'words' })
    expect(await server.run.exit).toEqual({ code: 7 })
  })

  it('that break off with the process end with its exit, however long a tool outlives it', async () => {
    const server = startServer('survived', { graces: { ...QUICK, SIGTERM: 2_500 } })
    await server.run.write({ kind: 'http', method: 'GET', path: '/die' })
    expect(await server.run.exit).toEqual({ code: 7 })
  })

  it('that break off after a stop are not a failure', async () => {
    const server = startServer('lingering', { graces: { ...QUICK, SIGTERM: 2_500 } })
    await server.until('server.connected')
    await server.run.stop()
    expect(await server.run.exit).toEqual({ signal: 'SIGKILL' })
  })

  it('are refused when one of them has no end', async () => {
    const server = startServer('plain')
    await server.run.write({ kind: 'http', method: 'GET', path: '/huge' })
    await server.ended
    expect((await server.run.exit).error).toMatchObject({
      code: 'protocol_error',
      message: expect.stringContaining('longer than'),
    })
  })
})

describe('the end of a server', () => {
  it.each(['stop', 'write'] as const)('starts with SIGTERM (%s)', async (by) => {
    const server = startServer('polite', { graces: { ...QUICK, SIGTERM: 5_000 } })
    await server.until('server.connected')
    await (by === 'stop' ? server.run.stop() : server.run.write({ kind: 'end' }))
    await server.ended
    expect(server.of('stdout').at(-1)).toBe('heard SIGTERM')
    expect(await server.run.exit).toEqual({ code: 7 })
  })

  it('follows the calls before it', async () => {
    const server = startServer('plain')
    void server.run.write({ kind: 'http', method: 'GET', path: '/words', tag: 'words' })
    await server.run.write({ kind: 'end' })
    await server.ended
    expect(server.values('http')).toEqual([{ tag: 'words', status: 200, body: 'plain "words"' }])
  })
})
