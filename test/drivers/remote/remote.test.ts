import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { runs } from '../../long.ts'
import { FakeBoard } from '../fake-board.ts'
import { plain } from '../fake-run.ts'
import {
  answersOf,
  collect,
  FETCHING,
  LAUNCH,
  linesOf,
  prompt,
  seen,
  start,
  startUnread,
  TOKEN,
} from './remote-runs.ts'

const DONE = [
  ['prompt', 201],
  ['state', 200],
]

describe.each([
  ['its socket', LAUNCH],
  ['fetching', FETCHING],
])('a session followed by %s', (_how, launch) => {
  it('is the answer, the events in their order, its state, and the end', async () => {
    await using board = await FakeBoard.start()
    board.log('before')
    const { run, frames, read } = start(board.url, launch)
    await prompt(run)
    await board.until(/GET/)
    board.log('after')
    board.end('done')
    await read
    expect(await run.exit).toEqual({ code: 0 })
    expect(run.pid).toBeUndefined()
    expect(frames.map(plain)).toEqual([
      frameOf('http', { tag: 'prompt', status: 201, body: { id: board.session, state: 'running' } }),
      ...board.events.map((event) => frameOf('sse', event)),
      frameOf('http', { tag: 'state', status: 200, body: { id: board.session, state: 'done' } }),
    ])
  })

  it('sends the token to the server only', async () => {
    await using board = await FakeBoard.start()
    board.token = TOKEN
    board.end('done')
    const { run, frames, read } = start(board.url, launch)
    await prompt(run)
    await read
    expect(answersOf(frames)).toEqual(DONE)
    expect(new Set(board.heard.map(({ token }) => token))).toEqual(new Set([`Bearer ${TOKEN}`]))
    expect(JSON.stringify([frames, board.heard.map(({ path }) => path), await run.exit])).not.toContain(TOKEN)
  })

  it('may have a list of any length, for any page size', async () => {
    await using board = await FakeBoard.start()
    board.upgrade = 'refused'
    board.page = (offset) => ({ events: board.events.slice(offset, offset + 2) })
    board.log('1', '2', '3', '4', '5')
    board.end('done')
    const { run, read } = start(board.url, launch)
    await prompt(run)
    expect(linesOf(await read)).toEqual(['1', '2', '3', '4', '5'])
  })

  it('is complete when it ends between two polls', async () => {
    await using board = await FakeBoard.start()
    board.upgrade = 'refused'
    let looks = 0
    board.after = ({ path }) => {
      if (!path.includes('events') || ++looks !== 1) return
      board.log('last words')
      board.end('done')
    }
    const { run, read, timers } = start(board.url, launch)
    await prompt(run)
    expect(linesOf(await read)).toEqual(['last words'])
    expect(timers.pauses).toEqual([500])
  })
})

describe('a socket', () => {
  it('that cannot be opened loses nothing', async () => {
    await using board = await FakeBoard.start()
    board.upgrade = 'refused'
    board.log('a', 'b')
    board.end('failed')
    const { run, read } = start(board.url)
    await prompt(run)
    expect(linesOf(await read)).toEqual(['a', 'b'])
    expect(board.asked(/\/ws\//)).toHaveLength(1)
  })

  it('that is never answered is not waited for', async () => {
    await using board = await FakeBoard.start()
    board.upgrade = 'ignored'
    const { run, read, timers } = start(board.url)
    await prompt(run)
    await board.until(/\/ws\//)
    await timers.pass(10_000)
    await board.until(/events/)
    board.log('a')
    board.end('done')
    expect(linesOf(await read)).toEqual(['a'])
  })

  it('that breaks is replaced by fetching from where it was: nothing lost, nothing twice', async () => {
    await using board = await FakeBoard.start()
    board.log('a', 'b')
    const { run, frames, read } = start(board.url)
    await prompt(run)
    await seen(frames, 2)
    board.breakSockets()
    board.log('c', 'd')
    await seen(frames, 4)
    board.log('e')
    board.end('done')
    expect(linesOf(await read)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(answersOf(frames)).toEqual(DONE)
    expect(board.asked(/events/)[0]?.path).toContain('offset=2&')
  })

  it('that breaks at the end of the session is replaced by fetching', async () => {
    await using board = await FakeBoard.start()
    board.log('a')
    const { run, frames, read } = start(board.url)
    await prompt(run)
    await seen(frames, 1)
    board.breakSockets()
    board.log('b')
    board.end('cancelled')
    expect(linesOf(await read)).toEqual(['a', 'b'])
  })

  it('that repeats events is deduplicated, and the resume offset stays correct', async () => {
    await using board = await FakeBoard.start()
    board.log('a', 'b')
    const { run, frames, read } = start(board.url)
    await prompt(run)
    await seen(frames, 2)
    board.repeat()
    board.log('c')
    await seen(frames, 3)
    board.breakSockets()
    board.log('d')
    board.end('done')
    expect(linesOf(await read)).toEqual(['a', 'b', 'c', 'd'])
    expect(board.asked(/events/)[0]?.path).toContain('offset=3&')
  })

  it('that repeats events without their id prefix is deduplicated as well', async () => {
    await using board = await FakeBoard.start()
    board.log('a', 'b')
    const { run, frames, read } = start(board.url, { ...LAUNCH, idPrefix: 'evt-' })
    await prompt(run)
    await seen(frames, 2)
    board.repeat((id) => id.replace('evt-', ''))
    board.log('c')
    await seen(frames, 3)
    board.breakSockets()
    board.log('d')
    board.end('done')
    expect(linesOf(await read)).toEqual(['a', 'b', 'c', 'd'])
    expect(board.asked(/events/)[0]?.path).toContain('offset=3&')
  })

  it('that stays open after its session ended is detected', async () => {
    await using board = await FakeBoard.start()
    board.keepsSockets = true
    board.log('a')
    const { run, frames, read, timers } = start(board.url)
    await prompt(run)
    await seen(frames, 1)
    await timers.pass(10_000)
    await board.until(/GET \/api/)
    expect(board.sockets.size).toBe(1)
    board.end('done')
    await timers.pass(10_000)
    expect(answersOf(await read)).toEqual(DONE)
  })

  it('whose server stops responding is abandoned', async () => {
    await using board = await FakeBoard.start()
    board.log('a')
    const { run, frames, read, timers } = start(board.url)
    await prompt(run)
    await seen(frames, 1)
    board.instead.push({ path: /GET \/api/, answer: [503, {}] })
    await timers.pass(10_000)
    await board.until(/events/)
    board.end('done')
    expect(linesOf(await read)).toEqual(['a'])
  })

  it('may send bytes, and messages that are not events', async () => {
    await using board = await FakeBoard.start()
    const { run, frames, read } = start(board.url)
    await prompt(run)
    await vi.waitFor(() => expect(board.sockets.size).toBe(1))
    const event = {
      id: 'x',
      sessionId: board.session,
      type: 'log',
      payload: { line: 'bytes' },
      timestamp: '',
    }
    board.events.push(event)
    for (const socket of board.sockets) {
      socket.send('hello')
      socket.send(Buffer.from(JSON.stringify(event)))
    }
    await seen(frames, 2)
    board.end('done')
    const said = (await read).filter(({ stream }) => stream === 'sse').map(({ text }) => text)
    expect(said).toEqual(['hello', JSON.stringify(event)])
    expect(board.asked(/events/)[0]?.path).toContain('offset=1&')
  })
})

describe('a reader that is behind', () => {
  it('loses nothing: what a socket would pour out is fetched instead', async () => {
    await using board = await FakeBoard.start()
    const lines = Array.from({ length: 50 }, (_, index) => `${index} ${'x'.repeat(100)}`)
    board.log(...lines)
    board.end('done')
    const { run } = startUnread(board.url, LAUNCH, 1_000)
    await prompt(run)
    await board.until(/\/ws\//)
    expect(linesOf(await collect(run))).toEqual(lines)
    expect(Number(/offset=(\d+)/.exec(board.asked(/events/)[0]?.path ?? '')?.[1])).toBeLessThan(50)
  })

  it('applies backpressure to fetching, and can be stopped', async () => {
    await using board = await FakeBoard.start()
    board.cancel = () => [409, {}]
    board.log('x'.repeat(2_000))
    const { run, timers } = startUnread(board.url, FETCHING, 1_000)
    await prompt(run)
    await vi.waitFor(() => expect(run.frames).toMatchObject({ full: true }))
    const path = `/api/sessions/${board.session}/cancel`
    // While these go there and back, there is time enough to ask for more.
    for (let times = 0; times < 5; times++) await run.write({ kind: 'http', method: 'POST', path })
    expect(board.asked(/events/)).toHaveLength(1)
    const stopped = run.stop()
    await timers.pass(5_000)
    await stopped
    expect(await run.exit).toMatchObject({ error: { code: 'connection_failed' } })
  })
})

it('a server without offsets is not polled forever', async () => {
  await using board = await FakeBoard.start()
  board.page = () => board.events
  board.log('a', 'b')
  board.end('done')
  const { run, read } = start(board.url, FETCHING)
  await prompt(run)
  expect(linesOf(await read)).toEqual(['a', 'b'])
  expect(board.asked(/events/)).toHaveLength(2)
})

it('every event arrives once and in order for any connection behaviour', async () => {
  const step = fc.constantFrom('say', 'say', 'say', 'break', 'repeat', 'wait')
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, size) => {
        await using board = await FakeBoard.start()
        board.page = (offset) => board.events.slice(offset, offset + size)
        const { run, read } = start(board.url)
        await prompt(run)
        for (const [index, what] of steps.entries()) {
          if (what === 'say') board.log(`${index}`)
          if (what === 'break') board.breakSockets()
          if (what === 'repeat') board.repeat()
          if (what === 'wait') await new Promise((resolve) => setImmediate(resolve))
        }
        board.end('done')
        const said = board.events.map(({ payload }) => Reflect.get(payload, 'line'))
        expect(linesOf(await read)).toEqual(said)
      },
    ),
    { numRuns: runs(20, 60) },
  )
})

const frameOf = (stream: string, value: unknown) => ({ stream, text: JSON.stringify(value), value })
