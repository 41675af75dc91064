import { describe, expect, it, vi } from 'vitest'
import type { Run } from '../../../src/drivers/driver.ts'
import type { ValueSink } from '../../../src/model/text/large-value.ts'
import { FakeBoard } from '../fake-board.ts'
import { memoryBlobs } from '../fake-run.ts'
import { answersOf, FETCHING, LAUNCH, linesOf, prompt, seen, start } from './remote-runs.ts'

const gone = {
  error: {
    code: 'connection_failed',
    message: expect.stringMatching(/^(GET|POST) http:\/\/127\.0\.0\.1:\d+\/api\/\S+ failed: /),
  },
}

const cancel = (board: FakeBoard, run: Run) =>
  run.write({ kind: 'http', method: 'POST', path: `/api/sessions/${board.session}/cancel`, tag: 'cancel' })

/** An address where nobody is. */
async function nowhere(): Promise<string> {
  await using board = await FakeBoard.start()
  return board.url
}

describe('a server that refuses', () => {
  it.each([401, 404, 503])(
    'the opening call with %i ends the run with its response, without a retry',
    async (status) => {
      await using board = await FakeBoard.start()
      board.instead.push({ path: /POST/, answer: [status, { error: 'no' }] })
      const { run, frames, read } = start(board.url)
      await prompt(run)
      await read
      expect(answersOf(frames)).toEqual([['prompt', status]])
      expect(await run.exit).toEqual({ code: 0 })
      expect(board.heard).toHaveLength(1)
    },
  )

  it('the token, the socket and every other call alike', async () => {
    await using board = await FakeBoard.start()
    const { run, frames, read } = start(board.url)
    board.after = () => {
      board.token = 'another one'
    }
    await prompt(run)
    await read
    expect(answersOf(frames)).toEqual([
      ['prompt', 201],
      ['state', 401],
    ])
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('to know the session any more', async () => {
    await using board = await FakeBoard.start()
    board.instead.push({ path: /POST/, answer: [201, { id: 'another-session' }] })
    const { run, frames, read } = start(board.url)
    await prompt(run)
    await read
    expect(answersOf(frames)).toEqual([
      ['prompt', 201],
      ['state', 404],
    ])
  })

  it('to list its events', async () => {
    await using board = await FakeBoard.start()
    board.instead.push({ path: /events/, answer: [403, {}] })
    const { run, frames, read } = start(board.url, FETCHING)
    await prompt(run)
    await read
    expect(answersOf(frames)).toEqual([
      ['prompt', 201],
      ['events', 403],
    ])
  })

  it.each(['../../admin', '', 7, undefined])('a usable id (%s) is followed nowhere', async (id) => {
    await using board = await FakeBoard.start()
    board.instead.push({ path: /POST/, answer: [201, { id, state: 'running' }] })
    const { run, read } = start(board.url)
    await prompt(run)
    await read
    expect(await run.exit).toEqual({ code: 0 })
    expect(board.heard).toHaveLength(1)
  })

  it('to stay where it is gets no second call: a redirect could lead anywhere', async () => {
    await using board = await FakeBoard.start()
    board.instead.push({ path: /POST/, answer: [307, {}] })
    const { run, read } = start(board.url)
    await prompt(run)
    await read
    expect(await run.exit).toEqual(gone)
    expect(board.heard).toHaveLength(1)
  })

  it('to send JSON is quoted', async () => {
    await using board = await FakeBoard.start()
    board.instead.push({ path: /POST/, answer: [502, '<html>'] })
    const { run, read } = start(board.url)
    await prompt(run)
    expect((await read).map(({ text }) => JSON.parse(text))).toEqual([
      { tag: 'prompt', status: 502, body: '<html>' },
    ])
  })
})

describe('a server that is gone', () => {
  it('before the first call is an error', async () => {
    const { run, read } = start(await nowhere())
    await prompt(run)
    expect(await read).toEqual([])
    expect(await run.exit).toEqual(gone)
  })

  it('in the middle is an error, after retries', async () => {
    const board = await FakeBoard.start()
    board.log('a')
    const { run, frames, read, timers } = start(board.url)
    await prompt(run)
    await seen(frames, 1)
    await board[Symbol.asyncDispose]()
    expect(linesOf(await read)).toEqual(['a'])
    expect(await run.exit).toEqual(gone)
    expect(timers.pauses).toEqual([200, 400, 800, 1_600, 3_200])
  })

  it('temporarily is retried', async () => {
    await using board = await FakeBoard.start()
    const busy = [503, {}] satisfies [number, object]
    for (const path of [/sessions\/[^/]*$/, /sessions\/[^/]*$/, /events/, /events/])
      board.instead.push({ path: new RegExp(`GET .*${path.source}`), answer: busy })
    board.instead.push({ path: /GET .*events/, answer: [429, {}] })
    board.log('a')
    board.end('done')
    const { run, read, timers } = start(board.url, FETCHING)
    await prompt(run)
    expect(linesOf(await read)).toEqual(['a'])
    expect(timers.pauses).toEqual([200, 400, 200, 400, 800])
  })

  it('and answers nothing but errors is quoted in the end', async () => {
    await using board = await FakeBoard.start()
    for (let times = 0; times < 6; times++) board.instead.push({ path: /GET/, answer: [503, {}] })
    const { run, read } = start(board.url, FETCHING)
    await prompt(run)
    expect(answersOf(await read)).toEqual([
      ['prompt', 201],
      ['state', 503],
    ])
  })

  it('silently is not waited for', async () => {
    await using board = await FakeBoard.start()
    board.instead.push({ path: /POST/, answer: 'silence' })
    const { run, timers } = start(board.url)
    const asked = prompt(run)
    await board.until(/POST/)
    await timers.pass(30_000)
    await asked
    expect(await run.exit).toMatchObject({
      error: { code: 'connection_failed', message: expect.stringContaining('no response within 30 seconds') },
    })
  })

  it('for another call does not end the run', async () => {
    await using board = await FakeBoard.start()
    const { run, read } = start(board.url)
    await prompt(run)
    board.instead.push({ path: /cancel/, answer: [307, {}] })
    await cancel(board, run)
    board.end('done')
    expect(answersOf(await read)).toEqual([
      ['prompt', 201],
      ['cancel', 0],
      ['state', 200],
    ])
  })
})

describe('stopping', () => {
  it('cancels the session and waits for its last events', async () => {
    await using board = await FakeBoard.start()
    board.log('a')
    const { run, frames, read } = start(board.url)
    await prompt(run)
    await seen(frames, 1)
    await Promise.all([run.stop(), run.stop()])
    expect(await run.exit).toEqual({ code: 0 })
    await read
    expect(frames.map(({ text }) => JSON.parse(text).type ?? JSON.parse(text).tag)).toEqual([
      'prompt',
      'log',
      'cancelled',
      'state',
    ])
    expect(board.asked(/cancel/)).toHaveLength(1)
    expect(board.sockets.size).toBe(0)
  })

  it('has a timeout, and reports an unconfirmed end', async () => {
    await using board = await FakeBoard.start()
    board.cancel = () => [200, {}]
    const { run, read, timers } = start(board.url)
    await prompt(run)
    const stopped = run.stop()
    await board.until(/cancel/)
    await timers.pass(5_000)
    await stopped
    await read
    expect(await run.exit).toEqual({
      error: {
        code: 'connection_failed',
        message: expect.stringContaining(`${board.session} may still be running`),
      },
    })
    await vi.waitFor(() => expect(board.sockets.size).toBe(0))
  })

  it('does not wait for an unreachable server', async () => {
    await using board = await FakeBoard.start()
    const { run } = start(board.url)
    await prompt(run)
    board.instead.push({ path: /cancel/, answer: [307, {}] })
    await run.stop()
    expect(await run.exit).toMatchObject({
      error: { message: expect.stringContaining('may still be running') },
    })
  })

  it('while a session is being opened cancels that session', async () => {
    await using board = await FakeBoard.start()
    const { run } = start(board.url)
    const asked = prompt(run)
    await run.stop()
    await asked
    expect(board.asked(/cancel/)).toHaveLength(1)
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('without any response has a timeout too', async () => {
    await using board = await FakeBoard.start()
    board.instead.push({ path: /POST/, answer: 'silence' })
    const { run, timers } = start(board.url)
    const asked = prompt(run)
    await board.until(/POST/)
    const stopped = run.stop()
    await timers.pass(5_000)
    await Promise.all([stopped, asked])
    expect(await run.exit).toMatchObject({ error: { message: expect.stringContaining('not known yet') } })
  })

  it('before the first call sends nothing, and later calls are rejected', async () => {
    await using board = await FakeBoard.start()
    const { run, read } = start(board.url)
    await run.stop()
    expect(await run.exit).toEqual({})
    await prompt(run)
    expect(await read).toEqual([])
    expect(board.heard).toEqual([])
  })

  it('after the end changes nothing', async () => {
    await using board = await FakeBoard.start()
    board.end('done')
    const { run, read } = start(board.url)
    await prompt(run)
    await read
    await run.stop()
    expect(await run.exit).toEqual({ code: 0 })
    expect(board.asked(/cancel/)).toEqual([])
  })
})

describe('the end of input', () => {
  it('ends a run without a session', async () => {
    const { run, read } = start('http://127.0.0.1:1')
    await run.write({ kind: 'end' })
    expect(await read).toEqual([])
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('does not affect an open session', async () => {
    await using board = await FakeBoard.start()
    const { run, read } = start(board.url)
    await prompt(run)
    await run.write({ kind: 'end' })
    board.log('still here')
    board.end('done')
    expect(linesOf(await read)).toEqual(['still here'])
  })
})

it('a server accepts no text', async () => {
  const { run } = start('http://127.0.0.1:1')
  await expect(run.write({ kind: 'text', text: 'hello' })).rejects.toMatchObject({
    code: 'unsupported_option',
  })
  await run.stop()
})

describe('an event that is too large', () => {
  it.each([LAUNCH, FETCHING])('arrives in order, with its large text as a blob', async (launch) => {
    await using board = await FakeBoard.start()
    board.log('a', 'x'.repeat(10_000), 'b')
    board.end('done')
    const { sink, lengths } = memoryBlobs()
    const { run, read } = start(
      board.url,
      launch,
      { maxLineBytes: 5_000 },
      { values: sink, env: { SERVER_URL: board.url } },
    )
    await prompt(run)
    const events = (await read).filter(({ stream }) => stream === 'sse')
    expect(events.map(({ large }) => large?.map(({ blob }) => blob.bytes))).toEqual([
      undefined,
      [10_000],
      undefined,
    ])
    expect(lengths).toEqual([10_000])
  })

  it('that cannot be stored ends the run', async () => {
    await using board = await FakeBoard.start()
    board.log('x'.repeat(1_000))
    const blobs: ValueSink = {
      open: () => ({
        write: () => undefined,
        close: () => Promise.reject(new Error('disk full')),
        discard: () => undefined,
      }),
    }
    const { run, read } = start(
      board.url,
      FETCHING,
      { maxLineBytes: 500 },
      { values: blobs, env: { SERVER_URL: board.url } },
    )
    await prompt(run)
    expect(linesOf(await read)).toEqual([])
    expect(await run.exit).toEqual({ error: { code: 'storage_failed', message: 'disk full' } })
  })
})
