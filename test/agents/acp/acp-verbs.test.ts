import { describe, expect, test } from 'vitest'
import { jsonFrame } from '../../../src/framing/frame.ts'
import { DEFAULT_POLICY } from '../../../src/model/index.ts'
import { agentOf, failure, result, Talk, update } from './acp-talk.ts'

const commands = (...names: string[]) =>
  update('available_commands_update', { availableCommands: names.map((name) => ({ name })) })

const ready = (more: object = {}) =>
  result(1, { protocolVersion: 1, agentInfo: { name: 'nobody', version: '1' }, agentCapabilities: more })

/** A session whose first turn has ended. */
function idle(agent = 'acp', ...names: string[]): Talk {
  const talk = new Talk(agent).begin()
  if (names.length > 0) talk.hear(commands(...names))
  talk.hear(result(3, { stopReason: 'end_turn' }))
  return talk
}

const sent = (text: string) => [{ method: 'session/prompt', params: { prompt: [{ type: 'text', text }] } }]

describe('a command of a terminal over the protocol', () => {
  test.each(['compact', '/compact'])('that the agent names as %s is sent', (name) => {
    expect(idle('acp', name).prompt('/compact')).toMatchObject(sent('/compact'))
  })

  test.each([
    ['/compact', 'compact: the agent has no such command; its commands are init, review'],
    ['/goal the tests pass', 'goal: the agent has no such command; its commands are init, review'],
  ])('%s, which it does not name, never reaches the model as text', (prompt, message) => {
    const talk = idle('acp', 'init', 'review')
    expect(talk.conversation.command({ type: 'prompt', text: prompt })).toMatchObject({
      writes: [],
      refused: { code: 'unsupported_option', message },
    })
  })

  test('is refused by an agent that named no commands by its second prompt', () => {
    expect(idle().prompt('/compact')).toEqual([{ refused: 'unsupported_option' }])
  })

  test('as the first prompt waits for the list of commands', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.prompt('/compact')
    talk.write(ready())
    expect(talk.write(result(2, { sessionId: 's1' }))).toEqual([])
    expect(talk.conversation.stage).toBe('starting')
    expect(talk.write(commands('compact'))).toMatchObject(sent('/compact'))
  })

  test('as the first prompt of an open session waits for the list too, and fails its turn without the command', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.write(ready())
    talk.write(result(2, { sessionId: 's1' }))
    expect(talk.prompt('/review')).toEqual([])
    expect(talk.write(commands('compact'))).toEqual([])
    expect(talk.only('turn.completed')).toMatchObject([
      { outcome: 'failed', error: { code: 'unsupported_option' } },
    ])
    expect(talk.prompt('go')).toMatchObject(sent('go'))
  })

  test('that waits for the list can be interrupted', () => {
    const talk = new Talk()
    talk.tell({ type: 'open' })
    talk.write(ready())
    talk.write(result(2, { sessionId: 's1' }))
    talk.prompt('/review')
    talk.tell({ type: 'interrupt' })
    expect(talk.only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
  })

  test('waits for a prompt after a change of settings, where it would ignore the change', () => {
    const modes = {
      currentModeId: 'agent',
      availableModes: [
        { id: 'agent', name: 'Agent' },
        { id: 'read-only', name: 'Read only' },
      ],
    }
    const start = { policy: { approval: 'ask-dangerous', sandbox: 'none' } } as const
    const talk = new Talk('codex-acp', start).begin({ sessionId: 's1', modes })
    talk.hear(commands('review', 'compact'), result(3, { stopReason: 'end_turn' }))
    talk.tell({ type: 'set_policy', mode: 'read-only' })
    talk.hear(result(4, {}))
    expect(talk.prompt('/review')).toEqual([{ refused: 'unsupported_option' }])
  })
})

/** A codec that copies the session `s0`, and what it said to the agent's capabilities. */
function forking(capabilities: object) {
  const recipe = agentOf('claude-agent-acp').launches.live
  if (!recipe) throw new Error('it has no live launch')
  const { codec } = recipe
  const state = codec.initial({
    launch: 'live',
    cwd: '/project',
    policy: DEFAULT_POLICY,
    options: {},
    epoch: 1,
    resume: 's0',
    fork: true,
  })
  codec.encode(state, { type: 'open', resume: 's0' })
  codec.encode(state, { type: 'prompt', text: 'go' })
  const hear = (native: object) => {
    const { writes, emitted } = codec.decode(state, jsonFrame('stdout', JSON.stringify(native)))
    return {
      said: writes.map((write) => (write.kind === 'text' ? JSON.parse(write.text) : write.kind)),
      emitted,
    }
  }
  return { hear, opened: hear(ready(capabilities)) }
}

describe('a fork over the protocol', () => {
  const CAN = { sessionCapabilities: { fork: {} } }

  test('is a session of its own', () => {
    const { hear, opened } = forking(CAN)
    expect(opened.said).toMatchObject([
      { method: 'session/fork', params: { sessionId: 's0', cwd: '/project' } },
    ])
    const modes = { currentModeId: 'default', availableModes: [{ id: 'default', name: 'Default' }] }
    const { said, emitted } = hear(result(2, { sessionId: 's1', modes }))
    expect(said).toMatchObject([{ method: 'session/prompt', params: { sessionId: 's1' } }])
    expect(emitted).toMatchObject([{ type: 'session.updated', nativeSessionId: 's1' }])
  })

  test.each([{}, { loadSession: true }])('fails where the agent offers none: %o', (capabilities) => {
    const { said, emitted } = forking(capabilities).opened
    expect(said).toEqual(['end'])
    const error = { message: 'the agent cannot copy a session' }
    expect(emitted.at(-1)).toMatchObject({ type: 'turn.verdict', error })
  })

  test('that the agent refuses fails the turn', () => {
    const { said, emitted } = forking(CAN).hear(failure(2, -32_602, 'no such session'))
    expect(said).toEqual(['end'])
    expect(emitted.at(-1)).toMatchObject({ type: 'turn.verdict', error: { message: 'no such session' } })
  })
})
