import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { recipe } from '../../src/agents/agent.ts'
import { echo as echoAgent } from '../../src/agents/echo/agent.ts'
import { AgentEvent } from '../../src/dialects/ues/ues-event.ts'
import { adapterOf } from '../../src/ues/adapters.ts'
import { type AgentAdapter, claudeCode, codex, echo, gemini } from '../../src/ues/index.ts'
import { isAlive, untilBlocked } from '../drivers/fake-run.ts'
import { claude, ending, only, playing, program, run, serving, told, types } from './scene.ts'

const RECORDED: readonly (readonly [string, () => AgentAdapter, string])[] = [
  ['claude-code', () => playing(claudeCode, 'claude/fixtures/claude/bidi_multi'), 'several deltas.'],
  ['codex', () => playing(codex, 'codex/fixtures/codex/as_basic'), 'several deltas.'],
  ['gemini', () => playing(gemini, 'gemini/fixtures/acp-gemini/text'), 'done.'],
  ['opencode', () => serving('text'), 'done.'],
]

describe.each(RECORDED)('a recorded run of %s', (id, adapter, lastWords) => {
  test('begins with init, ends with done, and every event says whose it is', async () => {
    const events = await run(adapter(), 'go')
    for (const event of events) expect(AgentEvent.parse(event)).toEqual(event)
    expect(only(events, 'init')).toHaveLength(1)
    expect(events[0]).toMatchObject({ type: 'init', payload: { cwd: process.cwd() } })
    expect(only(events, 'done')).toHaveLength(1)
    expect(ending(events).status).toBe('success')
    expect(new Set(events.map(({ agent }) => agent))).toEqual(new Set([id]))
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1)
  })

  test('streams its text in pieces, and says it once whole', async () => {
    const events = await run(adapter(), 'go')
    const [whole] = only(events, 'text')
    expect(only(events, 'text_delta').length).toBeGreaterThan(1)
    expect(
      only(events, 'text_delta')
        .map(({ payload }) => payload.delta)
        .join(''),
    ).toBe(whole?.payload.content)
    expect(whole?.payload.content).toContain(lastWords)
  })
})

describe('a run', () => {
  test('starts nothing before its first event is asked for', async () => {
    const events = claude().run('tell')
    await expect(events.return()).resolves.toEqual({ done: true, value: undefined })
    await expect(events.next()).resolves.toEqual({ done: true, value: undefined })
  })

  test('is a new session each time', async () => {
    const adapter = echo()
    const [first] = await run(adapter, 'one')
    const [second] = await run(adapter, 'two')
    expect(first?.sessionId).toMatch(/^[0-9a-f]{8}-/)
    expect(second?.sessionId).not.toBe(first?.sessionId)
  })

  test('leaves no process when it is over', async () => {
    expect(isAlive(told(await run(claude(), 'tell')).pid)).toBe(false)
  })

  test('leaves no process even if its last event is the last one read', async () => {
    const events = claude().run('tell')
    let pid = 0
    for (;;) {
      const { value } = await events.next()
      if (value?.type === 'text') pid = told([value]).pid
      if (value?.type === 'done') break
    }
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 10_000)
  })

  test('applies backpressure to the agent for a slow reader, and loses nothing', async () => {
    const count = 50_000
    const events = claude().run(`flood ${count}`)
    const seen: AgentEvent[] = []
    while (seen.at(-1)?.type !== 'text') {
      const { value } = await events.next()
      if (value) seen.push(value)
    }
    // Every piece is a line of more than 100 bytes; a few megabytes wait in pipes and queues, and no more.
    expect(await untilBlocked(told(seen).pid)).toBeLessThan(5_000_000)
    const rest = await Array.fromAsync(events)
    const pieces = only(rest, 'text_delta').map(({ payload }) => payload.delta)
    expect(pieces).toEqual(Array.from({ length: count }, (_, n) => `${n} `))
    expect(ending(rest).status).toBe('success')
  })
})

const live = echoAgent.launches.live
if (!live) throw new TypeError('echo has a live launch')
const { capabilities, codec, launch } = live

describe('failures are reported as events, and never thrown', () => {
  const missing = join(import.meta.dirname, 'no-such-program')
  const cases: readonly (readonly [string, () => AgentAdapter, string, string, object])[] = [
    ['a program that is not there', () => claudeCode({ command: [missing] }), 'x', 'agent_not_found', {}],
    ['a directory that is not there', claude, 'x', 'invalid_request', { cwd: missing }],
    ['an agent that dies', claude, 'die', 'protocol_error', {}],
    ['an agent that speaks no protocol', claude, 'break', 'protocol_error', {}],
    ['a model that cannot be a name', claude, 'x', 'invalid_request', { model: '--help' }],
    ['an id that cannot be one', claude, 'x', 'invalid_request', { resume: '--help' }],
    ['a limit that is none', claude, 'x', 'invalid_request', { maxTurns: 0 }],
    ['a tier that nobody knows', claude, 'x', 'invalid_request', { permissionTier: 'god' }],
    ['a mode that nobody knows', claude, 'x', 'invalid_request', { permissionMode: 'yolo' }],
    ['a directory that is no text', claude, 'x', 'unknown', { cwd: 7 }],
  ]

  test.each(cases)('%s', async (_what, adapter, prompt, code, options) => {
    const events = await run(adapter(), prompt, options)
    expect(types(events)).toEqual(['init', 'error', 'done'])
    expect(only(events, 'error')[0]?.payload).toMatchObject({ code, recoverable: false })
    expect(ending(events)).toMatchObject({ status: 'error' })
    expect(new Set(events.map(({ agent, sessionId }) => `${agent} ${sessionId}`)).size).toBe(1)
  })

  test('in words that name the option as it is called here', async () => {
    const events = await run(claude(), 'x', { maxTurns: -1 })
    expect(only(events, 'error')[0]?.payload.message).toMatch(/^maxTurns: /)
  })

  test('also when our own code fails', async () => {
    const fails = () => {
      throw new Error('a bug of ours')
    }
    const broken = recipe({ capabilities, launch, codec: { ...codec, decode: fails } })
    const events = await run(adapterOf({ id: 'broken', name: 'Broken', launches: { live: broken } }), 'x')
    expect(types(events)).toEqual(['init', 'error', 'done'])
    expect(only(events, 'error')[0]?.payload).toMatchObject({ code: 'unknown', message: 'a bug of ours' })
    expect(new Set(events.map(({ agent, sessionId }) => `${agent} ${sessionId}`)).size).toBe(1)
  })

  test('also when the agent never says a word', async () => {
    const silent = claudeCode(program('../fake-agents/agent.mjs', 'cut'))
    const events = await run(silent, 'x')
    expect(types(events).slice(-2)).toEqual(['error', 'done'])
    expect(events[0]?.type).toBe('init')
  })
})
