import { afterEach, describe, expect, it, vi } from 'vitest'
import { bytesWritten, expectNothingLeft, PATIENT, readAll, readField, startFake } from '../fake-run.ts'

afterEach(expectNothingLeft)

describe('input to a process', () => {
  it('arrives in order, followed by the end of input', async () => {
    const run = startFake('echo')
    void run.write({ kind: 'text', text: 'first\nsec' })
    void run.write({ kind: 'text', text: 'ond\n' })
    await run.write({ kind: 'end' })
    expect((await readAll(run)).map(({ value }) => value)).toEqual([
      { heard: 5, start: 'first' },
      { heard: 6, start: 'second' },
      { ended: true },
    ])
    expect(await run.exit).toEqual({ code: 0 })
  })

  it.each([
    '--dangerously-skip-permissions',
    '-c x',
    '--',
    '-',
    '@/etc/passwd',
    '$(touch x); `id` & "',
    'x'.repeat(300_000),
  ])('is passed unchanged: %.40s', async (prompt) => {
    const run = startFake('echo')
    await run.write({ kind: 'text', text: `${prompt}\n` })
    await run.write({ kind: 'end' })
    const [first] = await readAll(run)
    expect(first?.value).toEqual({ heard: prompt.length, start: prompt.slice(0, 40) })
    await run.exit
  })

  it('blocks while the child does not read', async () => {
    const run = startFake('hang')
    await readField(run, 'ready')
    let taken = false
    const before = bytesWritten(process.pid)
    const writing = run.write({ kind: 'text', text: 'x'.repeat(4 * 1024 * 1024) }).then(() => {
      taken = true
    })
    await vi.waitFor(() => expect(bytesWritten(process.pid)).toBeGreaterThan(before + 50_000))
    expect(taken).toBe(false)
    await run.stop()
    await writing
    await run.exit
  })

  it('to a child that closed its input is dropped without an error', async () => {
    const run = startFake('shut', '', { graces: PATIENT })
    await readField(run, 'ready')
    await run.write({ kind: 'text', text: 'x'.repeat(1024 * 1024) })
    await run.write({ kind: 'text', text: 'again' })
    await run.write({ kind: 'end' })
    await run.stop()
    expect(await run.exit).toEqual({ signal: 'SIGINT' })
  })

  it('after the exit, or after the end of input, is dropped without an error', async () => {
    const run = startFake('echo')
    await run.write({ kind: 'end' })
    await run.write({ kind: 'text', text: 'too late\n' })
    expect((await readAll(run)).map(({ value }) => value)).toEqual([{ ended: true }])
    expect(await run.exit).toEqual({ code: 0 })
    await run.write({ kind: 'text', text: 'much too late\n' })
    await run.write({ kind: 'end' })
  })

  it('cannot be an HTTP request', async () => {
    const run = startFake('echo')
    await expect(run.write({ kind: 'http', method: 'GET', path: '/' })).rejects.toMatchObject({
      code: 'unsupported_option',
    })
    await run.write({ kind: 'end' })
    await run.exit
  })
})
