import { afterEach, describe, expect, it, vi } from 'vitest'
import { QUIET_MS } from '../../../src/drivers/process/process-run.ts'
import { processDriver } from '../../../src/drivers/process.ts'
import {
  contextOf,
  expectNothingLeft,
  fakeAgent,
  isAlive,
  PATIENT,
  QUICK,
  readAll,
  readField,
  startFake,
  startOf,
  stateOf,
  untilBlocked,
} from '../fake-run.ts'
import { HeldTimers } from '../held-timers.ts'

function laterThan(moment: number | undefined, start: number): number | undefined {
  return moment !== undefined && moment > start ? moment : undefined
}

afterEach(expectNothingLeft)

describe('stopping a process', () => {
  it('sends SIGINT first, and an agent that handles it exits by itself', async () => {
    const run = startFake('polite', '', { graces: { ...QUICK, SIGINT: 5_000 } })
    await readField(run, 'ready')
    await run.stop()
    expect((await readAll(run)).map(({ text }) => text)).toEqual(['{"heard":"SIGINT"}'])
    expect(await run.exit).toEqual({ code: 7 })
  })

  it('escalates to SIGTERM and SIGKILL, each sent once', async () => {
    const graces = { SIGINT: 150, SIGTERM: 151, SIGKILL: 10_000 }
    const timers = new HeldTimers(graces.SIGINT, graces.SIGTERM)
    const run = startFake('deaf', '', { graces, timers })
    await readField(run, 'ready')
    const stopped = run.stop()
    expect(await readField(run, 'heard')).toBe('SIGINT')
    timers.pass(graces.SIGINT)
    expect(await readField(run, 'heard')).toBe('SIGTERM')
    timers.pass(graces.SIGTERM)
    await stopped
    expect(await readAll(run)).toEqual([])
    expect(await run.exit).toEqual({ signal: 'SIGKILL' })
  })

  it('ends a stopped process, whose signals stay pending', async () => {
    const run = startFake('stopped', '', { graces: { ...QUICK, SIGTERM: 5_000 } })
    const pid = run.pid
    await vi.waitFor(() => expect(stateOf(pid)).toBe('T'), 5_000)
    await run.stop()
    expect((await run.exit).signal).toMatch(/^SIG(?:INT|TERM)$/)
  })

  it('ends a tool in a separate session', async () => {
    const run = startFake('detached')
    const tool = await readField(run, 'tool')
    expect(isAlive(tool)).toBe(true)
    await run.stop()
    expect(isAlive(tool)).toBe(false)
  })

  it('ends a tool that also cleared its environment, found through its parent', async () => {
    const run = startFake('cleared', '', { groups: undefined })
    const tool = await readField(run, 'tool')
    expect(isAlive(tool)).toBe(true)
    await run.stop()
    expect(isAlive(tool)).toBe(false)
  })

  it('ends tools of one turn that left its session, but not the agent and its helpers', async () => {
    const run = startFake('tools')
    await readField(run, 'ready')
    const start = async (where: 'away' | 'here') => {
      await run.write({ kind: 'text', text: `${where}\n` })
      return readField(run, where)
    }
    const daemon = await start('away')
    // Start times count hundredths of a second.
    const began = await vi.waitUntil(() => laterThan(run.moment?.(), startOf(daemon)))
    const helper = await start('here')
    const tool = await start('away')
    expect(await run.endTools?.(began)).toEqual([])
    expect([daemon, helper, tool, run.pid].map(isAlive)).toEqual([true, true, false, true])
    await run.stop()
    expect([daemon, helper].map(isAlive)).toEqual([false, false])
  })

  it('ends two hundred tools, each in a separate session', async () => {
    const run = startFake('swarm', '200')
    expect(await readField(run, 'swarm')).toBe(200)
    await run.stop()
    expect(await run.exit).not.toHaveProperty('error')
  })

  it('ends a program that forks continuously and ignores signals', async () => {
    const run = startFake('forks')
    await readField(run, 'forking')
    await run.stop()
    expect(await run.exit).toEqual({ signal: 'SIGKILL' })
  })

  it('ends a child that waits for a reader', async () => {
    const run = startFake('flood', '100000', { queueBytes: 1, graces: PATIENT })
    await untilBlocked(run.pid)
    await run.stop()
    expect(await run.exit).toEqual({ signal: 'SIGINT' })
  })

  it('is idempotent, also after the end', async () => {
    const run = startFake('hang', '', { graces: PATIENT })
    await Promise.all([run.stop(), run.stop(), run.stop()])
    expect(await run.exit).toEqual({ signal: 'SIGINT' })
    await run.stop()
    expect(await run.exit).toEqual({ signal: 'SIGINT' })
  })

  it('uses process group and ancestry where environments are not visible', async () => {
    const driver = processDriver({ graces: PATIENT, platform: 'darwin', groups: undefined })
    const run = driver.start(fakeAgent('cleared'), contextOf())
    const tool = await readField(run, 'tool')
    await run.stop()
    expect(isAlive(tool)).toBe(false)
    expect(await run.exit).toEqual({ signal: 'SIGINT' })
  })
})

describe('a normal exit', () => {
  it('also ends a tool in a separate session', async () => {
    const run = startFake('orphan')
    const tool = await readField(run, 'tool')
    expect(await run.exit).toEqual({ code: 0 })
    expect(isAlive(tool)).toBe(false)
  })

  it('does not wait for a tool that keeps the pipes open', async () => {
    const run = startFake('holder')
    const frames = await readAll(run)
    expect(frames).toHaveLength(1)
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('still reads output shortly after it', async () => {
    // Longer than any shell takes to print a line, so that the end of the pipe alone ends the wait.
    const run = startFake('late', '', { timers: new HeldTimers(QUIET_MS) })
    expect((await readAll(run)).map(({ text }) => text)).toEqual(['{"late":true}'])
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('does not wait for a tool that keeps writing', async () => {
    const run = startFake('chatter')
    const frames = await readAll(run)
    expect(frames.every(({ text }) => /^\{"(?:chatter|ready)":true\}$/.test(text))).toBe(true)
    expect(frames.length).toBeGreaterThan(1)
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('is reported as the signal when the agent kills itself', async () => {
    const run = startFake('killed')
    expect(await readAll(run)).toHaveLength(1)
    expect(await run.exit).toEqual({ signal: 'SIGKILL' })
  })
})
