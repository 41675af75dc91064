import { expect, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { claude } from '../../../src/agents/claude/agent.ts'
import { gemini } from '../../../src/agents/gemini/agent.ts'
import type { Store } from '../../../src/stores/store.ts'
import { house, init } from '../house.ts'
import { fillable } from '../log/fillable-store.ts'

/** Three sessions whose owner died while a turn ran and a prompt waited. */
async function abandoned(store: Store, agents: readonly Agent[]): Promise<string[]> {
  const { open, driver } = house(store, { known: agents })
  const ids: string[] = []
  for (const [index, agent] of ['claude', 'gemini', 'claude'].entries()) {
    const session = await open({ approval: 'auto-all' }, { agent, launch: 'oneshot' })
    await session.prompt('one')
    await session.prompt(`two of ${index}`)
    const run = await driver.run(index + 1)
    run.say(init)
    ids.push(session.id)
  }
  return ids
}

test('a queue that cannot be written does not keep the other queues from their start', async () => {
  const { store, disk } = fillable()
  const ids = await abandoned(store, [claude, gemini])
  const after = house(store, { known: [claude, gemini] })
  await after.sessions.recover()
  const opened = after.sessions.open.bind(after.sessions)
  // The disk is full for the first session only.
  after.sessions.open = async (id) => {
    disk.full = id === ids[0]
    return opened(id)
  }
  await after.sessions.resumeQueues()
  disk.full = false
  for (const id of ids.slice(1)) expect(await store.record(id)).toMatchObject({ openTurn: 2, queue: [] })
  await after.time.pass(60_000)
  await expect.poll(() => store.record(ids[0] ?? '')).toMatchObject({ openTurn: 2, queue: [] })
})

test('a queue whose agent was removed is reported, and the others start', async () => {
  const { store } = fillable()
  const ids = await abandoned(store, [claude, gemini])
  const after = house(store, { known: [claude] })
  await after.sessions.recover()
  const refused = await after.sessions.resumeQueues().catch((thrown: unknown) => thrown)
  expect(refused).toMatchObject({ errors: [{ code: 'agent_not_found' }] })
  for (const id of [ids[0], ids[2]]) {
    expect(await store.record(id ?? '')).toMatchObject({ openTurn: 2, queue: [] })
  }
  expect(await store.record(ids[1] ?? '')).toMatchObject({ queue: [{ turn: 2 }] })
})

test('a queue without a free process starts when one is free', async () => {
  const { store } = fillable()
  const ids = await abandoned(store, [claude, gemini])
  const after = house(store, { maxProcesses: 2, known: [claude, gemini] })
  const running = async () =>
    (await Promise.all(ids.map((id) => store.record(id)))).filter((record) => record?.openTurn === 2).length
  await after.sessions.recover()
  const resuming = after.sessions.resumeQueues()
  await expect.poll(running).toBe(2)
  expect(after.driver.runs).toHaveLength(2)
  const ended = (await after.driver.run(1)).context.runId.split('.')[0] ?? ''
  after.driver.runs[0]?.die({ code: 0 })
  await expect.poll(async () => (await store.record(ended))?.status).toBe('idle')
  await after.time.pass(1_000)
  await resuming
  expect(after.driver.runs).toHaveLength(3)
})
