import { expect, test } from 'vitest'
import { claude } from '../../../src/agents/claude/agent.ts'
import { codex } from '../../../src/agents/codex/agent.ts'
import { gemini } from '../../../src/agents/gemini/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import { opencode } from '../../../src/agents/opencode/agent.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { house, init, result, said } from '../house.ts'

const { live } = claude.launches
if (!live) throw new Error('claude has a live launch')

/** Interrupts a turn of an agent that ends it by itself, and returns the calls of `endTools`. */
async function interrupted(leavesTools: boolean, survivors: readonly number[] = []) {
  const agent = {
    ...claude,
    launches: { live: { ...live, ...(leavesTools && { leavesTools: true as const }) } },
  }
  const made = house(memoryStore(), { known: [agent as typeof claude] })
  const session = await made.open()
  await session.prompt('one')
  const run = await made.driver.run()
  run.say(init, said('one'), result('one'))
  await session.settled(1)
  const calls: number[] = []
  const moments = [7, 8]
  Object.assign(run, {
    moment: () => moments.shift(),
    endTools: async (since: number) => {
      calls.push(since)
      return survivors
    },
  })
  await session.prompt('two')
  await session.prompt('three')
  const stopped = session.interrupt()
  await expect.poll(() => run.input).toContain('"subtype":"interrupt"')
  const id = /"request_id":"(c\d+)","request":\{"subtype":"interrupt"/.exec(run.input)?.[1]
  const confirmed = {
    type: 'control_response',
    response: { subtype: 'success', request_id: id, response: {} },
  }
  run.say(said('two', 'msg_2'), confirmed, result('two'))
  await stopped
  return { calls, events: (await made.log(session)).map(({ event }) => event) }
}

test('an interrupt ends what tools of its turn left running, also when the next turn has begun', async () => {
  const { calls, events } = await interrupted(true)
  expect(calls).toEqual([7])
  expect(events).toContainEqual(expect.objectContaining({ type: 'turn.started', turn: 3 }))
})

test('a tool that outlives even that is reported', async () => {
  const { events } = await interrupted(true, [4711])
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'notice.raised', message: expect.stringContaining('4711') }),
  )
})

test('nothing is ended for an agent that ends its tools itself', async () => {
  expect((await interrupted(false)).calls).toEqual([])
})

const codexAcp = agents.find(({ id }) => id === 'codex-acp')

test('Codex, Gemini CLI, OpenCode and codex-acp leave tools running, in every version and protocol', () => {
  const launches = [codex, gemini, opencode, opencode.atVersion?.('2.0.0'), codexAcp].map(
    (agent) => agent?.launches.live,
  )
  expect(launches.map((launch) => launch?.leavesTools)).toEqual([true, true, true, true, true])
})
