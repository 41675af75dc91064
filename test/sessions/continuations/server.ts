import type { Event, SessionOptions } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { type FakeRun, FakeTime } from '../fake-driver.ts'
import { house, init } from '../house.ts'

export const HOUR = 3_600_000

/** What Claude prints when its subscription has no quota left. */
export const usedUp = (resetsAt: number) => ({
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt: Math.round(resetsAt / 1000) },
})
export const refused = {
  type: 'result',
  subtype: 'success',
  is_error: true,
  api_error_status: 429,
  result: 'You have reached your limit',
}

/** A server on its own store and time, unless it follows another one. */
export function server(store: Store = memoryStore(), time = new FakeTime()) {
  const own = house(store, { time })
  const begin = async (options: SessionOptions, prompt = 'one') => {
    const session = await own.open({}, { options })
    await session.prompt(prompt)
    return { session, run: await own.driver.run() }
  }
  /** The run of that number, once the time of the continuation has come. */
  const nextRun = async (number: number) => {
    const [record] = await store.records({ queued: true, limit: 1 })
    const at = record?.queue[0]?.continuation?.at ?? 0
    await time.pass(Math.max(0, at - time.now))
    while (own.driver.runs.length < number) await time.pass(1_000)
    return own.driver.run(number)
  }
  return { ...own, begin, nextRun }
}

export const limitOf = (run: FakeRun, resetsAt: number) => run.say(init, usedUp(resetsAt), refused)

export async function drained({ sessions, time }: ReturnType<typeof server>): Promise<void> {
  let isOver = false
  const stopped = sessions.drain().finally(() => {
    isOver = true
  })
  while (!isOver) await time.pass(1_000)
  await stopped
}

export const promptsIn = (entries: readonly { event: Event }[]) =>
  entries.flatMap(({ event }) => (event.type === 'turn.started' ? [event.prompt] : []))
