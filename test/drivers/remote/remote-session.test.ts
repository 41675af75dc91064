import { expect, it } from 'vitest'
import { board as boardAgent } from '../../../src/agents/board/agent.ts'
import { wire } from '../../../src/compose/wire.ts'
import type { Entry, Policy } from '../../../src/model/index.ts'
import type { Session } from '../../../src/sessions/session.ts'
import { violations } from '../../agents/invariants.ts'
import { FakeBoard } from '../fake-board.ts'
import { RemoteTimers } from './remote-runs.ts'

const POLICY: Policy = { approval: 'auto-all', sandbox: 'none' }

/** A whole session against a server, from the prompt to the log. */
async function house(board: FakeBoard, variables: Record<string, string> = {}) {
  const timers = new RemoteTimers()
  const env = { MAINSTEM_BOARD_URL: board.url, ...variables }
  const { sessions } = wire({ agents: [boardAgent], settings: { board: { env } }, timers })
  const session = await sessions.create({ agent: 'board', cwd: '/home/me/my-project', policy: POLICY })
  /** Ends the session, and gives all of its log. */
  const log = async (): Promise<readonly Entry[]> => {
    await sessions.end(session.id)
    return sessions.read(session.id, 0, 1_000)
  }
  return { session, timers, log }
}

const outcomeOf = async (session: Session, turn: number) => {
  const { outcome, error } = await session.settled(turn)
  return [outcome, error?.code]
}

it('a prompt becomes a session on the board, and its events the log', async () => {
  await using board = await FakeBoard.start()
  board.token = 'secret'
  const { session, log } = await house(board, {
    MAINSTEM_BOARD_TOKEN: 'secret',
    MAINSTEM_BOARD_PROJECT: 'another-project',
  })
  const turn = await session.prompt('Refactor the authentication module')
  await board.until(/\/ws\//)
  board.say('action', { tool: 'Edit', args: { file_path: '/src/auth.ts' } })
  board.say('diff', { file: 'src/auth.ts', diff: '+1' })
  board.say('toolResult', { tool: 'Edit', success: true, output: 'ok' })
  board.breakSockets()
  board.log('Done.')
  board.end('done')
  expect(await outcomeOf(session, turn)).toEqual(['completed', undefined])
  const entries = await log()
  expect(violations(entries)).toEqual([])
  expect(entries.map(({ event }) => event.type)).toEqual([
    'session.started',
    'turn.started',
    'session.updated',
    'tool.started',
    'file.changed',
    'tool.completed',
    'text.completed',
    'turn.completed',
    'session.ended',
  ])
  expect(board.asked(/POST/)[0]?.body).toEqual({
    agentId: 'claude',
    projectId: 'another-project',
    prompt: 'Refactor the authentication module',
  })
  expect(JSON.stringify(entries)).not.toContain('secret')
})

it('an interrupt cancels the session on the board', async () => {
  await using board = await FakeBoard.start()
  const { session, log } = await house(board)
  const turn = await session.prompt('Go')
  await board.until(/\/ws\//)
  board.say('action', { tool: 'Bash', args: { command: 'sleep 1000' } })
  await session.interrupt()
  expect(await outcomeOf(session, turn)).toEqual(['interrupted', undefined])
  expect(board.asked(/cancel/)).toHaveLength(1)
  expect(violations(await log())).toEqual([])
})

it('an interrupt that the board ignores still ends the turn, and reports what may be running', async () => {
  await using board = await FakeBoard.start()
  board.cancel = () => [200, {}]
  const { session, timers, log } = await house(board)
  const turn = await session.prompt('Go')
  await board.until(/\/ws\//)
  const interrupted = session.interrupt()
  await board.until(/cancel/)
  await timers.pass(2_000)
  await board.until(/cancel/, 2)
  await timers.pass(5_000)
  await interrupted
  expect(await outcomeOf(session, turn)).toEqual(['interrupted', undefined])
  expect((await log()).map(({ event }) => event)).toContainEqual({
    type: 'notice.raised',
    level: 'warning',
    code: 'interrupt_refused',
    message: expect.stringContaining(`${board.session} may still be running`),
  })
})

it('a second prompt is refused, and the session can still be ended', async () => {
  await using board = await FakeBoard.start()
  board.end('done')
  const { session, log } = await house(board)
  expect(await outcomeOf(session, await session.prompt('Go'))).toEqual(['completed', undefined])
  expect(await outcomeOf(session, await session.prompt('And now?'))).toEqual(['failed', 'unsupported_option'])
  expect(board.asked(/POST/)).toHaveLength(1)
  expect(violations(await log())).toEqual([])
})

it('a prompt that was never delivered can be sent again', async () => {
  await using board = await FakeBoard.start()
  board.instead.push({ path: /POST/, answer: [401, { error: 'who are you?' }] })
  board.end('done')
  const { session, log } = await house(board)
  expect(await outcomeOf(session, await session.prompt('Go'))).toEqual(['failed', 'authentication_failed'])
  expect(await outcomeOf(session, await session.prompt('Go'))).toEqual(['completed', undefined])
  expect(violations(await log())).toEqual([])
})

it('without an address the turn fails and names the variable to set', async () => {
  await using board = await FakeBoard.start()
  const { session, log } = await house(board, { MAINSTEM_BOARD_URL: '' })
  const { error } = await session.settled(await session.prompt('Go'))
  expect(error).toEqual({
    code: 'agent_not_ready',
    message: 'set MAINSTEM_BOARD_URL to the address of the server',
  })
  expect(violations(await log())).toEqual([])
})
