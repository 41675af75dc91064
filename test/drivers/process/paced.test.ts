import { expect, test, vi } from 'vitest'
import type { Write } from '../../../src/agents/agent.ts'
import { paced } from '../../../src/drivers/process/paced.ts'
import { FakeDriver } from '../../sessions/fake-driver.ts'
import { contextOf } from '../fake-run.ts'

const launch = { kind: 'builtin', reply: () => [] } as const

function start(room: () => Promise<void>) {
  const driver = new FakeDriver()
  const run = paced(driver, room).start(launch, contextOf())
  const [inner] = driver.runs
  if (!inner) throw new TypeError('nothing was started')
  return { run, inner }
}

test('the next batch is not read before there is room for it', async () => {
  const room = Promise.withResolvers<void>()
  const { run, inner } = start(() => room.promise)
  inner.say({ n: 1 })
  inner.say({ n: 2 })
  inner.die({ code: 0 })
  const read: unknown[] = []
  const reading = (async () => {
    for await (const batch of run.frames) read.push(...batch.map(({ value }) => value))
  })()
  await vi.waitFor(() => expect(read).toEqual([{ n: 1 }]))
  room.resolve()
  await reading
  expect(read).toEqual([{ n: 1 }, { n: 2 }])
  expect(await run.exit).toEqual({ code: 0 })
})

test('writing and stopping do not wait for room', async () => {
  const { run, inner } = start(() => new Promise(() => undefined))
  const write: Write = { kind: 'text', text: 'hello' }
  await run.write(write)
  await run.stop()
  expect(inner.written).toEqual([write])
  expect(inner.stops).toBe(1)
  expect(run.pid).toBe(inner.pid)
})

test('a paced run reports its closed output and ends tools like the run itself', async () => {
  const inner = new FakeDriver()
  const ended: number[] = []
  inner.onStart = (run) => {
    Object.assign(run, {
      moment: () => 7,
      endTools: async (since: number) => {
        ended.push(since)
        return [42]
      },
    })
  }
  const run = paced(inner, async () => undefined).start(launch, contextOf())
  inner.runs[0]?.closeOutput()
  await run.outputClosed
  expect(run.moment?.()).toBe(7)
  expect(await run.endTools?.(7)).toEqual([42])
  expect(ended).toEqual([7])
})
