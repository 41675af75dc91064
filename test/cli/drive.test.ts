import { setImmediate as nextTick } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { agreeable } from '../../src/cli/terminal/ask.ts'
import { type Drive, drive } from '../../src/cli/turn/drive.ts'
import { wire } from '../../src/compose/wire.ts'
import type { Timers } from '../../src/drivers/driver.ts'
import type { TurnCompleted } from '../../src/model/events/turn.ts'
import type { Entry, EventType } from '../../src/model/index.ts'

/** Time that passes as soon as everything else has had its chance. */
const instant: Timers = {
  async sleep() {
    await nextTick()
  },
}

interface Driven {
  completed: TurnCompleted
  entries: Entry[]
}

async function driven(agent: string, options: Partial<Drive> = {}): Promise<Driven> {
  await using wired = wire({ timers: instant })
  const entries: Entry[] = []
  const completed = await drive(wired.sessions, {
    request: { agent, cwd: '/' },
    prompt: 'go',
    stop: new AbortController().signal,
    ...options,
    async show(entry) {
      entries.push(entry)
      await options.show?.(entry)
    },
  })
  return { completed, entries }
}

function types({ entries }: Driven): EventType[] {
  return entries.map(({ event }) => event.type)
}

test('every entry is shown once and in order, from the first to the last', async () => {
  const run = await driven('echo')
  expect(types(run)).toEqual([
    'session.started',
    'turn.started',
    'text.completed',
    'turn.completed',
    'session.ended',
  ])
  expect(run.entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
  expect(run.completed).toMatchObject({ outcome: 'completed', result: 'go' })
})

test('each request is answered in its turn', async () => {
  const run = await driven('demo', { answer: agreeable })
  expect(run.completed.outcome).toBe('completed')
  expect(types(run).filter((type) => type === 'request.resolved')).toHaveLength(3)
})

test('nothing is printed during a prompt', async () => {
  let asking = false
  const run = await driven('demo', {
    async answer(request) {
      asking = true
      await nextTick()
      await nextTick()
      asking = false
      return agreeable(request)
    },
    async show() {
      expect(asking).toBe(false)
    },
  })
  expect(types(run)).toContain('request.opened')
})

test('if no person can answer, a request is denied and never approved', async () => {
  const run = await driven('demo')
  expect(run.completed.outcome).toBe('denied')
  const resolved = run.entries.flatMap(({ event }) => (event.type === 'request.resolved' ? [event] : []))
  expect(resolved.map(({ decision, by }) => [decision, by])).toEqual([
    ['deny', 'policy'],
    ['deny', 'policy'],
  ])
})

test('a person who gives up interrupts the turn', async () => {
  const run = await driven('demo', { answer: async () => undefined })
  expect(run.completed.outcome).toBe('interrupted')
  expect(types(run).slice(-1)).toEqual(['session.ended'])
})

describe('stopping', () => {
  test('interrupts the turn, and its end is still shown', async () => {
    const stop = new AbortController()
    const run = await driven('demo', {
      stop: stop.signal,
      async show({ event }) {
        if (event.type === 'tool.started') stop.abort()
      },
    })
    expect(run.completed.outcome).toBe('interrupted')
    expect(types(run)).toContain('turn.completed')
    expect(types(run).at(-1)).toBe('session.ended')
  })

  test('before it began interrupts it all the same', async () => {
    const run = await driven('demo', { stop: AbortSignal.abort() })
    expect(run.completed.outcome).toBe('interrupted')
  })

  test('takes back the question that is being asked', async () => {
    const stop = new AbortController()
    let takenBack = false
    const run = await driven('demo', {
      stop: stop.signal,
      answer: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            takenBack = true
            resolve(undefined)
          })
          stop.abort()
        }),
    })
    expect(takenBack).toBe(true)
    expect(run.completed.outcome).toBe('interrupted')
    expect(types(run)).toContain('request.withdrawn')
  })
})

test('an output that fails ends the drive, and nothing is left running', async () => {
  const full = new Error('no space left')
  await expect(driven('demo', { show: () => Promise.reject(full) })).rejects.toBe(full)
})

test('a failed start is reported before any output', async () => {
  const shown: Entry[] = []
  const show = async (entry: Entry) => void shown.push(entry)
  await expect(driven('nobody', { show })).rejects.toMatchObject({ code: 'agent_not_found' })
  expect(shown).toEqual([])
})
