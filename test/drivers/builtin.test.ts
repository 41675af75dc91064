import { describe, expect, it } from 'vitest'
import type { Beat } from '../../src/agents/agent.ts'
import { builtinDriver } from '../../src/drivers/builtin.ts'
import type { Run, Timers } from '../../src/drivers/driver.ts'
import { contextOf, readAll } from './fake-run.ts'

/** Keeps what was waited for, and does not wait. */
function instantTimers(): Timers & { slept: number[] } {
  const slept: number[] = []
  return {
    slept,
    async sleep(ms) {
      slept.push(ms)
    },
  }
}

/** Waits for the signal and for nothing else. */
const endlessTimers: Timers = {
  sleep: (_ms, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
}

const beat = (line: string, afterMs = 0): Beat => ({ afterMs, line })

function startBuiltin(reply: (line: string) => readonly Beat[], timers: Timers = instantTimers()): Run {
  return builtinDriver({ timers }).start({ kind: 'builtin', reply }, contextOf())
}

const echo = (line: string) => [beat(JSON.stringify({ line }))]

const texts = async (run: Run) => (await readAll(run)).map(({ text }) => text)

describe('a built-in agent', () => {
  it('answers each line in order and ends with its input', async () => {
    const run = startBuiltin(echo)
    await run.write({ kind: 'text', text: 'a\nb\nc' })
    await run.write({ kind: 'text', text: 'd\n' })
    await run.write({ kind: 'text', text: 'last' })
    await run.write({ kind: 'end' })
    expect(await texts(run)).toEqual(['{"line":"a"}', '{"line":"b"}', '{"line":"cd"}', '{"line":"last"}'])
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('has no process, and its lines are frames of stdout', async () => {
    const run = startBuiltin(() => [beat('{"a":1}'), beat('plain')])
    await run.write({ kind: 'text', text: 'go\n' })
    await run.write({ kind: 'end' })
    expect(run.pid).toBeUndefined()
    expect(await readAll(run)).toEqual([
      { stream: 'stdout', text: '{"a":1}', value: { a: 1 } },
      { stream: 'stdout', text: 'plain' },
    ])
  })

  it('keeps its delays, and uses no timer without a delay', async () => {
    const timers = instantTimers()
    const run = startBuiltin(() => [beat('a'), beat('b'), beat('c', 30), beat('d'), beat('e', 20)], timers)
    await run.write({ kind: 'text', text: 'go\n' })
    await run.write({ kind: 'end' })
    const batches: string[][] = []
    for await (const batch of run.frames) batches.push(batch.map(({ text }) => text))
    expect(batches).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(timers.slept).toEqual([30, 20])
  })

  it('emits its output before it pauses', async () => {
    const run = startBuiltin(() => [beat('now'), beat('never', 1_000)], endlessTimers)
    await run.write({ kind: 'text', text: 'go\n' })
    const reader = run.frames[Symbol.asyncIterator]()
    expect((await reader.next()).value).toEqual([{ stream: 'stdout', text: 'now' }])
    const rest = reader.next()
    await run.stop()
    expect((await rest).done).toBe(true)
    expect(await run.exit).toEqual({ signal: 'SIGTERM' })
  })

  it('finishes an answer before it reads the next line', async () => {
    const run = startBuiltin((line) => [beat(`${line} 1`), beat(`${line} 2`, 10)])
    await run.write({ kind: 'text', text: 'a\nb\n' })
    await run.write({ kind: 'end' })
    expect(await texts(run)).toEqual(['a 1', 'a 2', 'b 1', 'b 2'])
  })

  it('waits for input and resumes on it', async () => {
    const run = startBuiltin(echo)
    const reading = texts(run)
    await run.write({ kind: 'text', text: 'late\n' })
    await run.write({ kind: 'end' })
    expect(await reading).toEqual(['{"line":"late"}'])
  })

  it('ends at once when stopped, read or not, and stays ended', async () => {
    const waiting = startBuiltin(echo)
    const reading = texts(waiting)
    await waiting.stop()
    expect(await reading).toEqual([])
    expect(await waiting.exit).toEqual({ signal: 'SIGTERM' })
    const unread = startBuiltin(echo)
    await unread.write({ kind: 'text', text: 'a\n' })
    await unread.stop()
    await unread.stop()
    expect(await unread.exit).toEqual({ signal: 'SIGTERM' })
    expect(await texts(unread)).toEqual([])
    await unread.write({ kind: 'text', text: 'too late\n' })
  })

  it('that ended by itself is not changed by a stop', async () => {
    const run = startBuiltin(echo)
    await run.write({ kind: 'end' })
    expect(await texts(run)).toEqual([])
    await run.stop()
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('that throws ends with an error', async () => {
    const run = startBuiltin(() => {
      throw new Error('no answer')
    })
    await run.write({ kind: 'text', text: 'go\n' })
    expect(await texts(run)).toEqual([])
    expect(await run.exit).toEqual({ error: { code: 'unknown', message: 'no answer' } })
  })

  it('accepts no HTTP request', async () => {
    const run = startBuiltin(echo)
    await expect(run.write({ kind: 'http', method: 'POST', path: '/' })).rejects.toMatchObject({
      code: 'unsupported_option',
    })
  })
})
