import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { FakeRun } from '../fake-driver.ts'
import { house, init, result, said } from '../house.ts'
import { PROTOCOLS, type Script } from '../machine/scripted-protocols.ts'

const codexScript = (run: FakeRun): Script => {
  const found = PROTOCOLS.find(([name]) => name === 'codex')
  if (!found) throw new Error('there is no scripted codex')
  return found[1].script(run)
}

/** A session in which Claude has ended a turn. */
async function begun(made = house()) {
  const scripts: Script[] = []
  made.driver.onStart = (run) => {
    if (run.launch.kind === 'process' && run.launch.argv[0] === 'codex') scripts.push(codexScript(run))
    const { onWrite } = run
    run.onWrite = (write) => {
      onWrite(write)
      if (write.kind === 'end') run.die({ code: 0 })
    }
  }
  const session = await made.open({}, { options: { model: 'opus' } })
  await session.prompt('Remember the heron')
  const claude = await made.driver.run(1)
  claude.say(init, said('The word is heron.'), result('The word is heron.'))
  await session.settled(1)
  return { ...made, id: session.id, claude, scripts }
}

const CODEX = { type: 'hand_over', agent: 'codex' } as const

describe('another agent continues a session', () => {
  test('its first prompt begins with the recap, later ones do not, and the log says who worked when', async () => {
    const { sessions, store, driver, id, claude, scripts } = await begun()
    await sessions.continueWith(id, CODEX)
    expect(claude.isAlive).toBe(false)
    expect(await store.record(id)).toMatchObject({ agent: 'codex', launch: 'live', status: 'idle', turns: 1 })
    const session = await sessions.open(id)
    await session.prompt('Which word?')
    const codex = await driver.run(2)
    await expect.poll(() => scripts[0]?.prompts).toBe(1)
    expect(codex.input).toContain('Last message: The word is heron.')
    expect(codex.input).toContain('Which word?')
    scripts[0]?.begin(1)
    scripts[0]?.say(1, 'heron')
    scripts[0]?.finish(1, 'heron')
    await session.settled(2)
    const before = codex.input.length
    await session.prompt('And now?')
    await expect.poll(() => scripts[0]?.prompts).toBe(2)
    expect(codex.input.slice(before)).not.toContain('Recap by Mainstem')

    const events = (await store.read(id, 0, 100)).map(({ event }) => event)
    const over = events.find(({ type }) => type === 'session.handed_over')
    expect(over).toMatchObject({
      from: { agent: 'claude', launch: 'live', nativeSessionId: 'native-1' },
      agent: 'codex',
      launch: 'live',
    })
    const prompts = events.flatMap((event) => (event.type === 'turn.started' ? event.prompt : []))
    expect(prompts).toEqual(['Remember the heron', 'Which word?', 'And now?'])
    expect(JSON.stringify(events)).not.toContain('context_lost')
    const { options, model } = (await store.record(id)) ?? {}
    expect({ options, model }).toEqual({ options: {}, model: 'm' })
  })

  test('two callers at once hand it over once', async () => {
    const { sessions, store, id } = await begun()
    const calls = [sessions.continueWith(id, CODEX), sessions.continueWith(id, CODEX)]
    const results = await Promise.allSettled(calls)
    expect(results.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { code: 'conflict' } },
    ])
    const events = (await store.read(id, 0, 100)).map(({ event }) => event.type)
    expect(events.filter((type) => type === 'session.handed_over')).toHaveLength(1)
    expect(await (await sessions.open(id)).prompt('two')).toBe(2)
  })

  test('a process without a conversation gets the recap again, also after a restart', async () => {
    const made = await begun()
    const { sessions, id } = made
    await sessions.continueWith(id, CODEX)
    made.driver.onStart = () => undefined
    const session = await sessions.open(id)
    await session.prompt('Which word?')
    const silent = await made.driver.run(2)
    // It dies before it has a conversation.
    silent.die({ code: 1 })
    await session.settled(2)

    const after = house(made.store)
    const scripts: Script[] = []
    after.driver.onStart = (run) => void scripts.push(codexScript(run))
    await after.sessions.recover()
    await (await after.sessions.open(id)).prompt('Again: which word?')
    const again = await after.driver.run(1)
    await expect.poll(() => again.input).toContain('Again: which word?')
    expect(again.input).toContain('Last message: The word is heron.')
  })

  test('it is refused while a turn runs, for an unknown agent, and for a policy that the agent cannot keep', async () => {
    const { sessions, store, id, claude } = await begun()
    const session = await sessions.open(id)
    await session.prompt('two')
    await expect(sessions.continueWith(id, CODEX)).rejects.toMatchObject({ code: 'conflict' })
    claude.say(said('2', 'msg_2'), result('2'))
    await session.settled(2)
    const unknown = sessions.continueWith(id, { type: 'hand_over', agent: 'codx' })
    await expect(unknown).rejects.toMatchObject({ code: 'agent_not_found' })
    await session.change({ type: 'set_policy', policy: { approval: 'auto-edit', sandbox: 'none' } })
    const before = await store.record(id)
    const refused = sessions.continueWith(id, CODEX)
    await expect(refused).rejects.toMatchObject({ code: 'unsupported_option' })
    expect(await store.record(id)).toEqual(before)
    // The session goes on with its agent.
    expect(await (await sessions.open(id)).prompt('three')).toBe(3)
  })

  test('a repeated command with its key changes nothing, and another hand-over goes back with a new recap', async () => {
    const { sessions, store, driver, id } = await begun(house(memoryStore()))
    await sessions.continueWith(id, CODEX)
    await sessions.continueWith(id, { type: 'hand_over', agent: 'claude', model: 'haiku' })
    const record = await store.record(id)
    expect(record).toMatchObject({ agent: 'claude', options: { model: 'haiku' } })
    expect(record).not.toHaveProperty('nativeSessionId')
    await (await sessions.open(id)).prompt('Which word?')
    const claude = await driver.run(2)
    await expect.poll(() => claude.input).toContain('The word is heron.')
    expect(claude.launch).toMatchObject({ argv: expect.arrayContaining(['--model=haiku']) })
    expect(JSON.stringify(claude.launch)).not.toContain('--resume')
  })
})
