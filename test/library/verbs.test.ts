import { afterAll, describe, expect, test } from 'vitest'
import { type AgentSession, type Mainstem, mainstem } from '../../src/index.ts'
import { ASKING_AGENT } from '../cli/mainstem-process.ts'
import { Opencode2 } from '../drivers/opencode2/opencode2-play.ts'

const cwd = import.meta.dirname
const library = mainstem({ agents: { claude: { command: [process.execPath, ASKING_AGENT] } } })
afterAll(() => library[Symbol.asyncDispose]())

const claude = (from: Mainstem = library) => from.session({ agent: 'claude', cwd })

describe('a command of the terminal in the library', () => {
  test.each([
    ['compact', '/compact', (session: AgentSession) => session.compact()],
    ['review', '/review', (session: AgentSession) => session.review()],
    ['goal', '/goal all tests pass', (session: AgentSession) => session.goal('all tests pass')],
  ])('%s is a turn, which the agent gets as %s', async (_, prompt, begin) => {
    await using session = await claude()
    await session.prompt('first').result()
    const turn = begin(session)
    const [begun] = await Array.fromAsync(turn)
    expect(begun?.event).toMatchObject({ type: 'turn.started', turn: 2, prompt })
    expect(await turn.result()).toMatchObject({ outcome: 'completed', text: prompt })
  })

  test('compact is a call of its own where the agent has one', async () => {
    const program = new Opencode2()
    await using stem = mainstem({ agents: program.settings })
    await using session = await stem.session({ agent: 'opencode', cwd: program.folder })
    await session.prompt('text please').result()
    expect(await session.compact().result()).toMatchObject({ outcome: 'completed' })
    expect(program.calls(/\/compact$/)).toHaveLength(1)
    expect(program.calls(/\/prompt$/)).toHaveLength(1)
  })

  test('rewind restores files without a prompt', async () => {
    await using session = await claude()
    await session.prompt('first').result()
    const turn = session.rewind(1)
    const changed: string[] = []
    for await (const { event } of turn) if (event.type === 'file.changed') changed.push(event.path)
    expect(changed).toEqual(['restored.txt'])
    expect(await turn.result()).toMatchObject({
      outcome: 'completed',
      text: 'Restored 1 file:\nrestored.txt',
    })
  })

  test('a fork is a session of its own, with the same settings', async () => {
    await using session = await claude()
    await session.prompt('first').result()
    await using copy = await library.fork(session.id)
    expect(await copy.prompt('second').result()).toMatchObject({ outcome: 'completed', text: 'second' })
    expect(copy.id).not.toBe(session.id)
    const [begun] = await Array.fromAsync(session.prompt('third'))
    expect(begun?.event).toMatchObject({ type: 'turn.started', turn: 2 })
  })

  test.each([
    ['compact', (session: AgentSession) => session.compact()],
    ['review', (session: AgentSession) => session.review()],
    ['goal', (session: AgentSession) => session.goal('all tests pass')],
    ['rewind', (session: AgentSession) => session.rewind(1)],
  ])('%s rejects where the agent has no such command, and names the reason', async (verb, begin) => {
    const program = new Opencode2()
    await using stem = mainstem({ agents: { gemini: { command: [program.program] } } })
    await using session = await stem.session({ agent: 'gemini', cwd: program.folder })
    const refusal = begin(session).result()
    await expect(refusal).rejects.toMatchObject({ code: 'unsupported_option' })
    await expect(refusal).rejects.toThrow(`${verb} is not supported by a live gemini: `)
  })

  test('a fork rejects where the agent cannot copy a conversation', async () => {
    await using session = await library.session({ agent: 'echo', cwd })
    await session.prompt('first').result()
    await expect(library.fork(session.id)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:unsupported_option|conflict)$/),
    })
  })
})
