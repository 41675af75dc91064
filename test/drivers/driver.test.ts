import { afterEach, describe, expect, it } from 'vitest'
import { driver } from '../../src/drivers/index.ts'
import { contextOf, expectNothingLeft, fakeAgent, readAll } from './fake-run.ts'

afterEach(expectNothingLeft)

describe('the driver', () => {
  it('starts a process for a launch that has a program', async () => {
    const run = driver().start(fakeAgent('tail'), contextOf())
    expect(run.pid).toBeGreaterThan(0)
    expect((await readAll(run)).map(({ text }) => text).sort()).toEqual(['last words', '{"last":true}'])
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('plays a launch that is built in', async () => {
    const run = driver().start({ kind: 'builtin', reply: (line) => [{ afterMs: 1, line }] }, contextOf())
    await run.write({ kind: 'text', text: 'hello\n' })
    await run.write({ kind: 'end' })
    expect((await readAll(run)).map(({ text }) => text)).toEqual(['hello'])
    expect(await run.exit).toEqual({ code: 0 })
  })
})
