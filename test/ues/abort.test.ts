import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { type AgentAdapter, type AgentEvent, claudeCode, codex } from '../../src/ues/index.ts'
import { isAlive, untilBlocked } from '../drivers/fake-run.ts'
import { all, claude, ending, only, playing, processesOf, program, run, told, types } from './scene.ts'

/** Reads until an event of this type, and leaves the rest. */
async function until(events: AsyncGenerator<AgentEvent>, type: AgentEvent['type']): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = []
  while (seen.at(-1)?.type !== type) {
    const { value, done } = await events.next()
    if (done) throw new Error(`there was no ${type}`)
    seen.push(value)
  }
  return seen
}

const folder = mkdtempSync(join(tmpdir(), 'ues-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A program that leaves a file behind when it is started. */
const trace = join(folder, 'trace')
const traced = () => claudeCode(program('trace.mjs', trace))

describe('a signal', () => {
  test('that has fired starts nothing', async () => {
    const events = await run(traced(), 'x', { abortSignal: AbortSignal.abort() })
    expect(types(events)).toEqual(['init', 'done'])
    expect(ending(events)).toMatchObject({ status: 'interrupted' })
    expect(existsSync(trace)).toBe(false)
  })

  test('that fires between the call and the first event starts nothing', async () => {
    const stop = new AbortController()
    const events = traced().run('x', { abortSignal: stop.signal })
    stop.abort()
    expect(types(await all(events))).toEqual(['init', 'done'])
    expect(existsSync(trace)).toBe(false)
  })

  test('that does not fire lets the program start, as its trace shows', async () => {
    await run(traced(), 'x', { abortSignal: new AbortController().signal })
    expect(existsSync(trace)).toBe(true)
  })

  test('wins over an agent that is still starting', async () => {
    const stop = new AbortController()
    const mute = claudeCode(program('../fake-agents/agent.mjs', 'hang'))
    const events = all(mute.run('x', { abortSignal: stop.signal }))
    stop.abort()
    expect(ending(await events).status).toBe('interrupted')
  })

  const AGENTS: readonly (readonly [string, () => AgentAdapter, AgentEvent['type']])[] = [
    ['claude', claude, 'text'],
    ['claude, recorded', () => playing(claudeCode, 'claude/fixtures/claude/bidi_interrupt'), 'text_delta'],
    ['codex, recorded', () => playing(codex, 'codex/fixtures/codex/as_interrupt'), 'text_delta'],
  ]
  test.each(AGENTS)('stops a turn that is open by the protocol: %s', async (_id, adapter, at) => {
    const stop = new AbortController()
    const events = adapter().run('hang', { abortSignal: stop.signal })
    const seen = await until(events, at)
    stop.abort()
    seen.push(...(await Array.fromAsync(events)))
    expect(ending(seen)).toMatchObject({ status: 'interrupted' })
    expect(only(seen, 'done')).toHaveLength(1)
    expect(only(seen, 'error').filter(({ payload }) => !payload.recoverable)).toEqual([])
  })

  test.each(['hang', 'stubborn'])(
    'leaves nothing of an agent that is told to %s, nor of its tools',
    async (prompt) => {
      const stop = new AbortController()
      const events = claude().run(prompt, { abortSignal: stop.signal })
      const seen = await until(events, 'text')
      const { pid, tool } = told(seen)
      expect([isAlive(pid), isAlive(tool)]).toEqual([true, true])
      stop.abort()
      expect(ending(await Array.fromAsync(events)).status).toBe('interrupted')
      expect([isAlive(pid), isAlive(tool)]).toEqual([false, false])
    },
  )

  test('stops an agent that waits for a decision, and the decision is too late', async () => {
    const stop = new AbortController()
    const decision = Promise.withResolvers<{ allow: boolean }>()
    const options = { abortSignal: stop.signal, canUseTool: () => decision.promise }
    const events = claude().run('use Bash', options)
    const seen = await until(events, 'permission_request')
    stop.abort()
    seen.push(...(await Array.fromAsync(events)))
    decision.resolve({ allow: true })
    expect(ending(seen)).toMatchObject({ status: 'interrupted' })
    const resolved = seen.filter(({ type }) => type === 'mainstem:permission_resolved')
    expect(resolved).toEqual([])
  })

  test('stops an agent whose reader has stopped reading', async () => {
    const stop = new AbortController()
    const events = claude().run('flood 50000', { abortSignal: stop.signal })
    const { pid } = told(await until(events, 'text'))
    await untilBlocked(pid)
    stop.abort()
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 10_000)
    expect(only(await Array.fromAsync(events), 'done')).toHaveLength(1)
  })

  test('that fires after the end does nothing', async () => {
    const stop = new AbortController()
    const events = await run(claude(), 'say hello', { abortSignal: stop.signal })
    stop.abort()
    expect(ending(events).status).toBe('success')
  })
})

describe('leaving the loop', () => {
  test('at the first event ends what was started', async () => {
    const events = claude().run('hang')
    const { value } = await events.next()
    const sessionId = value?.sessionId ?? ''
    expect(processesOf(sessionId)).not.toEqual([])
    await events.return()
    expect(processesOf(sessionId)).toEqual([])
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('in the middle ends the agent and its tools', async () => {
    let pids = { pid: 0, tool: 0 }
    for await (const event of claude().run('hang')) {
      if (event.type !== 'text') continue
      pids = told([event])
      expect([isAlive(pids.pid), isAlive(pids.tool)]).toEqual([true, true])
      break
    }
    expect(pids.pid).toBeGreaterThan(0)
    expect([isAlive(pids.pid), isAlive(pids.tool)]).toEqual([false, false])
  })

  test('ends an agent that waits for its reader', async () => {
    const events = claude().run('flood 50000')
    const { pid } = told(await until(events, 'text'))
    await untilBlocked(pid)
    await events.return()
    expect(isAlive(pid)).toBe(false)
  })

  test('does not wait for an event that is not coming', async () => {
    const events = claude().run('hang')
    const { pid, tool } = told(await until(events, 'text'))
    const waiting = events.next()
    await events.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect([isAlive(pid), isAlive(tool)]).toEqual([false, false])
  })

  test('by an exception ends the agent, and the exception propagates', async () => {
    let pid = 0
    const reading = async () => {
      for await (const event of claude().run('hang')) {
        if (event.type !== 'text') continue
        pid = told([event]).pid
        throw new Error('mine')
      }
    }
    await expect(reading()).rejects.toThrow('mine')
    expect(pid).toBeGreaterThan(0)
    expect(isAlive(pid)).toBe(false)
  })

  test('by throwing into the stream ends the agent too', async () => {
    const events = claude().run('hang')
    const { pid } = told(await until(events, 'text'))
    await expect(events.throw(new Error('mine'))).rejects.toThrow('mine')
    expect(isAlive(pid)).toBe(false)
  })

  test('happens by itself at the end of a scope', async () => {
    let pid = 0
    {
      await using events = claude().run('hang')
      pid = told(await until(events, 'text')).pid
    }
    expect(pid).toBeGreaterThan(0)
    expect(isAlive(pid)).toBe(false)
  })
})
