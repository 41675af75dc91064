import { describe, expect, test } from 'vitest'
import type { Agent, LaunchRecipe } from '../../../src/agents/agent.ts'
import { claude } from '../../../src/agents/claude/agent.ts'
import type { Command } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { house, init, result } from '../house.ts'

const live = claude.launches.live as LaunchRecipe

/** Claude, but with another live launch. */
function variant(more: Partial<LaunchRecipe>): Agent {
  return { ...claude, launches: { live: { ...live, ...more } } }
}

/** A session of that agent after one turn. */
async function afterTurn(agent: Agent, options: { model?: string } = {}) {
  const own = house(memoryStore(), { known: [agent] })
  const session = await own.open({}, { agent: agent.id, options })
  await session.prompt('one')
  const run = await own.driver.run()
  run.onStop = () => run.die({ code: 0 })
  run.say(init, result('1'))
  await session.settled(1)
  return { ...own, session, run }
}

describe('a change that needs another process', () => {
  const codec: LaunchRecipe['codec'] = {
    ...live.codec,
    encode: (state: unknown, command: Command) =>
      command.type === 'set_model'
        ? { ...live.codec.encode(state, { type: 'close' }), writes: [], applies: 'next_process' as const }
        : live.codec.encode(state, command),
  }

  test('is refused where the agent could not resume its conversation, and nothing changes', async () => {
    const capabilities = { ...live.capabilities, resume: false }
    const { session, store } = await afterTurn(variant({ codec, capabilities }))
    await expect(session.change({ type: 'set_model', model: 'other' })).rejects.toMatchObject({
      code: 'unsupported_option',
      message: expect.stringContaining('it cannot resume its conversation'),
    })
    expect((await store.record(session.id))?.options).toEqual({})
  })

  test('is accepted where every prompt stands alone', async () => {
    const capabilities = { ...live.capabilities, resume: false }
    const { session, run } = await afterTurn(variant({ codec, capabilities, stateless: true }))
    const changed = session.change({ type: 'set_model', model: 'other' })
    await expect.poll(() => run.written).toContainEqual({ kind: 'end' })
    run.die({ code: 0 })
    expect(await changed).toBe('now')
  })

  test('is accepted where the agent resumes, and its next prompt has a new process', async () => {
    const { session, driver, run } = await afterTurn(variant({ codec }))
    const changed = session.change({ type: 'set_model', model: 'other' })
    await expect.poll(() => run.written).toContainEqual({ kind: 'end' })
    run.die({ code: 0 })
    await changed
    await session.prompt('two')
    expect((await driver.run(2)).launch).toMatchObject({ argv: expect.arrayContaining(['--model=other']) })
  })
})

describe('an agent that keeps the last model of a conversation', () => {
  const keeping = variant({ keepsModel: true })

  test('refuses to return to its default after a turn', async () => {
    const { session } = await afterTurn(keeping, { model: 'chosen' })
    await expect(session.change({ type: 'set_model', model: null })).rejects.toMatchObject({
      code: 'unsupported_option',
      message: expect.stringContaining('name the model to continue with'),
    })
    expect(await session.change({ type: 'set_model', model: 'named' })).toBe('now')
  })

  test('returns to its default before the first turn, and where none was chosen', async () => {
    const { open } = house(memoryStore(), { known: [keeping] })
    const fresh = await open({}, { options: { model: 'chosen' } })
    expect(await fresh.change({ type: 'set_model', model: null })).toBe('now')
    const { session } = await afterTurn(keeping)
    expect(await session.change({ type: 'set_model', model: null })).toBe('now')
  })
})
