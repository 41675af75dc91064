import { afterEach, describe, expect, it } from 'vitest'
import type { Frame } from '../../src/framing/frame.ts'
import { expectNothingLeft, isAlive, PATIENT, readAll, readField, startFake } from './fake-run.ts'
import { startSpooledFake } from './spool/spooled.ts'

afterEach(expectNothingLeft)

const numbers = (frames: readonly Frame[]) =>
  frames.map(({ value }) =>
    typeof value === 'object' && value !== null ? Reflect.get(value, 'n') : undefined,
  )
const texts = (frames: readonly Frame[]) => frames.map(({ text }) => text)

const KINDS = [
  ['pipes', startFake],
  ['files', startSpooledFake],
] as const

describe.each(KINDS)('a process with %s', (_, start) => {
  it('delivers its output whole and in order', async () => {
    const run = start('flood', '20000')
    expect(numbers(await readAll(run))).toEqual(Array.from({ length: 20_000 }, (_, n) => n))
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('delivers a burst, also to a reader that is slower than it', async () => {
    const run = start('burst', '20000', { queueBytes: 64 * 1024 })
    expect(numbers(await readAll(run))).toEqual(Array.from({ length: 20_000 }, (_, n) => n))
  })

  it('delivers a last line without a newline, and standard error', async () => {
    const run = start('tail')
    expect(texts(await readAll(run)).sort()).toEqual(['last words', '{"last":true}'])
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('delivers a line that was cut off, with the exit code', async () => {
    const run = start('cut')
    expect(texts(await readAll(run))).toEqual(['{"whole":true}', '{"half":'])
    expect(await run.exit).toEqual({ code: 3 })
  })

  it('stores the large values of a long line', async () => {
    const run = start('largeJson', '3', { maxLineBytes: 1024 * 1024 })
    const [before, large, after] = await readAll(run)
    expect([before?.text, after?.text]).toEqual(['{"before":true}', '{"after":true}'])
    expect(large?.large).toHaveLength(1)
  })

  it('reports that it closed its output while it lives', async () => {
    const run = start('mute')
    await readField(run, 'ready')
    await run.outputClosed
    expect(isAlive(run.pid)).toBe(true)
    await run.stop()
    expect((await run.exit).signal).toMatch(/^SIG/)
  })

  it('does not report so while one of its processes has the output open', async () => {
    const run = start('handsOver')
    expect(texts(await readAll(run))).toEqual(['{"ready":true}', '{"late":true}'])
    await run.exit
  })

  it('receives lines of every size, in order', async () => {
    const run = start('echo')
    const lines = [10, 200_000, 3_000_000, 1].map((length) => 'x'.repeat(length))
    const written = Promise.all(lines.map((line) => run.write({ kind: 'text', text: `${line}\n` })))
    const heard: unknown[] = []
    for await (const batch of run.frames) {
      for (const { value } of batch) if (value instanceof Object) heard.push(Reflect.get(value, 'heard'))
      if (heard.length >= lines.length) break
    }
    await written
    expect(heard).toEqual(lines.map(({ length }) => length))
    await run.stop()
  })

  it('is stopped by SIGINT first', async () => {
    const run = start('polite', '', { graces: PATIENT })
    await readField(run, 'ready')
    await run.stop()
    expect(await run.exit).toEqual({ code: 7 })
  })

  it('is killed if it ignores signals', async () => {
    const run = start('deaf')
    await readField(run, 'ready')
    await run.stop()
    expect(await run.exit).toEqual({ signal: 'SIGKILL' })
  })

  it('is continued to be stopped', async () => {
    const run = start('stopped')
    await readField(run, 'ready')
    await run.stop()
    expect((await run.exit).signal).toMatch(/^SIG/)
  })

  it('reports the signal that ended it', async () => {
    const run = start('killed')
    await readAll(run)
    expect(await run.exit).toEqual({ signal: 'SIGKILL' })
  })

  it('takes its tools along, also those in other sessions', async () => {
    const run = start('detached')
    const tool = await readField(run, 'tool')
    await run.stop()
    await readAll(run)
    await run.exit
    expect(isAlive(tool)).toBe(false)
  })

  it('ends, whatever a process that it leaves behind does', async () => {
    const run = start('chatter')
    await readField(run, 'ready')
    const ended = readAll(run)
    await run.exit
    await ended
  })

  it('has a private folder for temporary files, which is removed', async () => {
    const run = start('dump')
    const [facts, temporary] = await readAll(run)
    expect(temporary?.value).toEqual({ temporary: true })
    await run.exit
    const env = facts?.value instanceof Object ? Reflect.get(facts.value, 'env') : {}
    expect(env.TMPDIR).toMatch(/mainstem-/)
  })
})
