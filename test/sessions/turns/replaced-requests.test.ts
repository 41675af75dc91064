import { describe, expect, test } from 'vitest'
import { house } from '../house.ts'
import { ASKING, ASKING_AGENTS, textOf } from './asking-agents.ts'
import { bound } from './bound-answer.ts'

describe.each(ASKING.map((one) => [one.agent, one] as const))(
  'a second request of %s under an open id',
  (_id, { agent, script, permission: { ask, approves } }) => {
    async function asked(subject: string) {
      const { open, driver, store, log } = house(undefined, { known: ASKING_AGENTS })
      let asking: ReturnType<typeof script> | undefined
      driver.onStart = (run) => {
        asking = script(run)
      }
      const session = await open({}, { agent })
      await session.prompt('go')
      await expect.poll(() => asking?.prompts, { interval: 1 }).toBeGreaterThan(0)
      const run = await driver.run()
      asking?.begin(1)
      const events = async () =>
        (await log(session)).map(({ event }) => event).filter(({ type }) => type.startsWith('request.'))
      const repeat = (again: string) => {
        ask(run, 1, again)
        // OpenCode's request waits for its call until the next heartbeat.
        if (agent === 'opencode') run.sayOn('sse', { type: 'server.heartbeat', properties: {} })
      }
      repeat(subject)
      await expect.poll(async () => (await events()).length, { interval: 1 }).toBe(1)
      const requestId = (await store.record(session.id))?.requests[0]?.requestId ?? ''
      const allow = () => bound(store, session.id, { type: 'answer', requestId, decision: 'allow' })
      const approvals = () => run.written.map(textOf).filter(approves).length
      return { session, repeat, events, allow, approvals }
    }

    test('replaces the first, whose answer no longer fits', async () => {
      const { session, repeat, events, allow, approvals } = await asked('ls')
      const early = await allow()
      repeat('rm -rf /')
      await expect.poll(async () => (await events()).length, { interval: 1 }).toBe(3)
      expect(await events()).toMatchObject([
        { type: 'request.opened' },
        { type: 'request.withdrawn', reason: 'replaced' },
        { type: 'request.opened' },
      ])
      await expect(session.answer(early)).rejects.toMatchObject({ code: 'conflict' })
      expect(approvals()).toBe(0)
      await session.answer(await allow())
      expect(approvals()).toBe(1)
    })

    test('is a repetition if it asks the same', async () => {
      const { session, repeat, events, allow, approvals } = await asked('ls')
      const frames = session.coverage.frames
      repeat('ls')
      await expect.poll(() => session.coverage.frames, { interval: 1 }).toBeGreaterThan(frames)
      expect(await events()).toHaveLength(1)
      await session.answer(await allow())
      expect(approvals()).toBe(1)
    })
  },
)
