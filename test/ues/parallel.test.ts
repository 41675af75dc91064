import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import {
  type AgentAdapter,
  type AgentEvent,
  claudeCode,
  codex,
  echo,
  runParallel,
} from '../../src/ues/index.ts'
import { isAlive } from '../drivers/fake-run.ts'
import { all, claude, ending, only, playing, told, types } from './scene.ts'

const piece = (agent: string, n: number): AgentEvent => ({
  type: 'text_delta',
  agent,
  timestamp: n,
  sessionId: `session of ${agent}`,
  payload: { delta: `${agent}${n}` },
})

/** An adapter of somebody else, made of a generator. */
const adapter = (id: string, run: AgentAdapter['run']): AgentAdapter => ({
  id,
  name: id,
  run,
  isAvailable: async () => true,
})

const talker = (id: string, count: number, taken: string[] = []): AgentAdapter =>
  adapter(id, async function* () {
    for (let n = 1; n <= count; n++) {
      taken.push(`${id}${n}`)
      yield piece(id, n)
    }
  })

const prompts = (...adapters: AgentAdapter[]) => adapters.map((one) => ({ adapter: one, prompt: 'go' }))
const pieces = (events: readonly AgentEvent[]) =>
  only(events, 'text_delta').map(({ payload }) => payload.delta)

describe('the streams', () => {
  test('of agents that are always ready take turns', async () => {
    const events = await all(runParallel(prompts(talker('a', 3), talker('b', 3), talker('c', 1))))
    expect(pieces(events)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'b3'])
  })

  test('of silent agents do not hold up the others', async () => {
    const wake = Promise.withResolvers<void>()
    const sleeper = adapter('s', async function* () {
      await wake.promise
      yield piece('s', 1)
    })
    const seen: string[] = []
    for await (const event of runParallel(prompts(sleeper, talker('a', 5)))) {
      seen.push(...pieces([event]))
      if (seen.length === 5) wake.resolve()
    }
    expect(seen).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 's1'])
  })

  test('are read no faster than they are taken', async () => {
    const taken: string[] = []
    const events = runParallel(prompts(talker('a', 1_000, taken), talker('b', 1_000, taken)))
    const read: string[] = []
    for await (const event of events) {
      read.push(...pieces([event]))
      expect(taken.length - read.length).toBeLessThanOrEqual(1)
      if (read.length === 50) break
    }
    expect(taken.length).toBeLessThanOrEqual(51)
  })

  test('keep their order and lose nothing, in any order of readiness', async () => {
    const counts = fc.array(fc.nat({ max: 6 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), counts, async (scheduler, lengths) => {
        const tasks = lengths.map((length, index) =>
          adapter(`${index}:`, async function* () {
            for (let n = 1; n <= length; n++) {
              await scheduler.schedule(Promise.resolve())
              yield piece(`${index}:`, n)
            }
          }),
        )
        const merged = await scheduler.waitFor(all(runParallel(prompts(...tasks))))
        expect(merged).toHaveLength(lengths.reduce((sum, length) => sum + length, 0))
        for (const [index, length] of lengths.entries()) {
          const own = pieces(merged.filter(({ agent }) => agent === `${index}:`))
          expect(own).toEqual(Array.from({ length }, (_, n) => `${index}:${n + 1}`))
        }
      }),
    )
  })

  test('of no task at all end at once', async () => {
    expect(await all(runParallel([]))).toEqual([])
  })

  test('of one adapter differ by their session', async () => {
    const same = echo()
    const events = await all(
      runParallel([
        { adapter: same, prompt: 'one' },
        { adapter: same, prompt: 'two' },
      ]),
    )
    const bySession = Map.groupBy(events, ({ sessionId }) => sessionId)
    expect([...bySession.values()].map(types)).toEqual([
      ['init', 'text', 'done'],
      ['init', 'text', 'done'],
    ])
    expect([...bySession.values()].map((one) => ending(one).result).sort()).toEqual(['one', 'two'])
  })
})

test('real agents run side by side, each with its own init and done', async () => {
  const events = await all(
    runParallel([
      { adapter: playing(claudeCode, 'claude/fixtures/claude/bidi_multi'), prompt: 'go' },
      { adapter: playing(codex, 'codex/fixtures/codex/as_basic'), prompt: 'go' },
      { adapter: claudeCode({ command: ['/no/such/program'] }), prompt: 'go' },
      { adapter: codex(), prompt: 'go', options: { maxBudgetUsd: 1 } },
    ]),
  )
  const runs = [...Map.groupBy(events, ({ sessionId }) => sessionId).values()]
  expect(runs.map((run) => `${run[0]?.agent} ${run[0]?.type} ${ending(run).status}`).sort()).toEqual([
    'claude-code init error',
    'claude-code init success',
    'codex init error',
    'codex init success',
  ])
})

describe('a task that fails', () => {
  const failing: readonly (readonly [string, AgentAdapter, string[]])[] = [
    [
      'when it is started',
      adapter('f', () => {
        throw new Error('boom')
      }),
      ['init', 'error', 'done'],
    ],
    [
      'in the middle',
      adapter('f', async function* () {
        yield piece('f', 1)
        throw new Error('boom')
      }),
      ['text_delta', 'error', 'done'],
    ],
  ]
  test.each(failing)('%s is reported, and the others continue', async (_when, broken, expected) => {
    const events = await all(runParallel(prompts(broken, talker('a', 4))))
    expect(pieces(events.filter(({ agent }) => agent === 'a'))).toEqual(['a1', 'a2', 'a3', 'a4'])
    const told = events.filter(({ agent }) => agent === 'f')
    expect(types(told)).toEqual(expected)
    expect(only(told, 'error')[0]?.payload).toMatchObject({ message: 'boom', recoverable: false })
    expect(new Set(told.map(({ sessionId }) => sessionId)).size).toBe(1)
  })

  test('after its end has no second one', async () => {
    const late = adapter('f', async function* (prompt) {
      yield* echo().run(prompt)
      throw new Error('boom')
    })
    expect(types(await all(runParallel(prompts(late))))).toEqual(['init', 'text', 'done'])
  })
})

describe('stopping', () => {
  test('one task leaves the others alone', async () => {
    const stop = new AbortController()
    const tasks = [
      { adapter: claude(), prompt: 'hang', options: { abortSignal: stop.signal } },
      { adapter: claude(), prompt: 'say hello' },
    ]
    const events: AgentEvent[] = []
    for await (const event of runParallel(tasks)) {
      events.push(event)
      if (event.type === 'text' && event.payload.content.startsWith('{')) stop.abort()
    }
    const ends = only(events, 'done').map(({ payload }) => payload.status)
    expect(ends.sort()).toEqual(['interrupted', 'success'])
  })

  test('the whole stops all, and leaves no process', async () => {
    const pids: number[] = []
    for await (const event of runParallel(
      prompts(claude(), claude()).map((task) => ({ ...task, prompt: 'hang' })),
    )) {
      if (event.type !== 'text') continue
      const { pid, tool } = told([event])
      pids.push(pid, tool)
      if (pids.length === 4) break
    }
    expect(pids).toHaveLength(4)
    expect(pids.map(isAlive)).toEqual([false, false, false, false])
  })

  test('the whole does not wait for events that are not coming', async () => {
    const events = runParallel([{ adapter: claude(), prompt: 'hang' }])
    const seen: AgentEvent[] = []
    while (seen.at(-1)?.type !== 'text') {
      const { value } = await events.next()
      if (value) seen.push(value)
    }
    const waiting = events.next()
    await events.return()
    await waiting
    expect(isAlive(told(seen).pid)).toBe(false)
  })

  test.each(['a break', 'a return while it waits'])(
    'by %s does not wait for an adapter that ignores it',
    async (how) => {
      vi.useFakeTimers()
      try {
        const deaf = adapter('d', async function* () {
          yield piece('d', 1)
          await new Promise(() => undefined)
        })
        const events = runParallel(prompts(deaf))
        await events.next()
        const waiting = how === 'a break' ? undefined : events.next()
        const left = events.return()
        await vi.advanceTimersByTimeAsync(12_000)
        expect(await left).toEqual({ done: true, value: undefined })
        await waiting
      } finally {
        vi.useRealTimers()
      }
    },
  )

  test('aborts every task by its signal, also with custom adapters', async () => {
    const signals: AbortSignal[] = []
    const foreign = adapter('f', async function* (_prompt, { abortSignal } = {}) {
      if (!abortSignal) return
      signals.push(abortSignal)
      yield piece('f', 1)
      await new Promise((resolve) => abortSignal.addEventListener('abort', resolve))
    })
    const own = new AbortController()
    for (const options of [{}, { abortSignal: own.signal }]) {
      for await (const _ of runParallel([{ adapter: foreign, prompt: 'go', options }])) break
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    expect(own.signal.aborted).toBe(false)
  })
})
