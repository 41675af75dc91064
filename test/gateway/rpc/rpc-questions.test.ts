import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Emitted } from '../../../src/agents/agent.ts'
import { bound } from '../../sessions/turns/bound-answer.ts'
import { success, text } from '../puppet.ts'
import type { TestGateway } from '../start.ts'
import { play } from '../talker.ts'
import { create, exchange, hello, model, open, permission, piece, result, startRpc, told } from './rpc.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startRpc()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const init = { type: 'system', subtype: 'init', session_id: 'sdk-1', model }
const ended = [{ type: 'result', session_id: 'sdk-1' }, '[DONE]']
const said = (content: string) => ({ type: 'text', content })
const missed = (sessionId: string) => result(server, 'session.reconnect', { sessionId })
const record = (id: string) => server.sessions.record(id)

describe('a permission', () => {
  const ask = [hello(), permission('r1')]

  test.each([
    ['Allow', { decision: 'allow', scope: 'once' }],
    ['yes', { decision: 'allow', scope: 'once' }],
    ['1', { decision: 'allow', scope: 'once' }],
    ['Deny', { decision: 'deny' }],
    ['2', { decision: 'deny' }],
    ['No!', { decision: 'deny' }],
    ['yes, but only in /tmp', { decision: 'deny', message: 'yes, but only in /tmp' }],
    ['allow everything', { decision: 'deny', message: 'allow everything' }],
  ])('that is answered with %j is decided so, and the same turn continues', async (message, decision) => {
    const id = await create(server, { mode: 'ask' })
    const asked = await exchange(server, id, play(ask, [success]))
    expect(asked.slice(1)).toEqual([
      { type: 'tool_use', tool: 'Bash', input: { command: 'rm x' } },
      {
        type: 'tool_use',
        tool: 'AskUserQuestion',
        input: [
          {
            header: 'Allow Bash: rm x?',
            options: [
              { label: 'Allow', description: 'Allow' },
              { label: 'Deny', description: 'Deny' },
            ],
            multiSelect: false,
          },
        ],
        request_id: 'r1',
      },
      ...ended,
    ])
    expect(await exchange(server, id, message)).toEqual([
      init,
      said(`told ${JSON.stringify(decision)}`),
      ...ended,
    ])
    expect(await record(id)).toMatchObject({ turns: 1, queue: [], requests: [] })
  })

  test('is not shown where the mode allows everything', async () => {
    const id = await create(server, { mode: 'auto' })
    const events = await exchange(server, id, play(ask, [success]))
    expect(events.at(-3)).toMatchObject({ content: expect.stringContaining('"by":"policy"') })
    expect(events.slice(-2)).toEqual(ended)
  })

  test('that two clients answer at once is decided by one, and the other gets an error', async () => {
    const id = await create(server, { mode: 'ask' })
    await exchange(server, id, play(ask, [{ ...success, wait: true }]))
    const streams = await Promise.all([open(server, id, 'Allow'), open(server, id, 'Deny')])
    await server.gate.open()
    const both = await Promise.all(streams.map(async (stream) => told(await stream.whole())))
    const lost = both.filter((one) => JSON.stringify(one).includes('"conflict"'))
    expect(lost).toEqual([[{ type: 'error', message: expect.any(String), code: 'conflict' }, '[DONE]']])
    expect(both.filter((one) => JSON.stringify(one).includes('told '))).toHaveLength(1)
    expect(await record(id)).toMatchObject({ turns: 1, queue: [] })
  })

  test('that was not shown is not answered by the next message', async () => {
    const id = await create(server, { mode: 'ask' })
    const session = await server.sessions.open(id)
    await session.prompt(play(ask, [success]))
    await expect.poll(async () => (await record(id))?.requests.length).toBe(1)
    const error = { type: 'error', message: expect.any(String), code: 'conflict' }
    expect(await exchange(server, id, 'yes')).toEqual([error, '[DONE]'])
    expect((await missed(id)).bufferedEvents).toContainEqual(expect.objectContaining({ request_id: 'r1' }))
    expect(await exchange(server, id, 'yes')).toContainEqual(said('told {"decision":"allow","scope":"once"}'))
  })

  test('and another at the same time are shown and answered one after the other', async () => {
    const id = await create(server, { mode: 'ask' })
    const first = await exchange(server, id, play([...ask, permission('r2', 'rm y')], [], [success]))
    expect(first).toContainEqual(expect.objectContaining({ request_id: 'r1' }))
    expect(first).not.toContainEqual(expect.objectContaining({ request_id: 'r2' }))
    const second = await exchange(server, id, 'Allow')
    expect(second).toContainEqual(expect.objectContaining({ request_id: 'r2' }))
    const third = await exchange(server, id, 'Deny')
    expect(third.filter((one) => JSON.stringify(one).includes('told '))).toEqual([
      said('told {"decision":"allow","scope":"once"}'),
      said('told {"decision":"deny"}'),
    ])
    expect(third.slice(-2)).toEqual(ended)
  })

  test('that was answered elsewhere before it could be shown does not end the exchange', async () => {
    const id = await create(server, { mode: 'ask' })
    await exchange(server, id, play([...ask, permission('r2', 'rm y')], [], [success]))
    const session = await server.sessions.open(id)
    await session.answer(
      await bound(server.sessions, id, { type: 'answer', requestId: 'r2', decision: 'deny' }),
    )
    const rest = await exchange(server, id, 'Allow')
    expect(rest).toContainEqual(said('told {"decision":"allow","scope":"once"}'))
    expect(rest.slice(-2)).toEqual(ended)
  })

  test('that does not end the exchange does not cut the text around it', async () => {
    const id = await create(server, { mode: 'ask' })
    const begin = [...ask, piece('m1', 'Hello '), permission('r2', 'rm y')]
    await exchange(server, id, play(begin, [piece('m1', 'world'), text('m1', 'Hello world')], [success]))
    const session = await server.sessions.open(id)
    await expect.poll(async () => (await record(id))?.requests.length).toBe(2)
    await session.answer(
      await bound(server.sessions, id, { type: 'answer', requestId: 'r2', decision: 'deny' }),
    )
    const rest = await exchange(server, id, 'Allow')
    expect(rest.filter((one) => JSON.stringify(one).includes('"system"'))).toEqual([init])
    expect(rest).toContainEqual({ type: 'partial', content: 'world' })
    expect(rest).toContainEqual(said('Hello world'))
    expect(rest.slice(-2)).toEqual(ended)
  })

  test('that goes with its turn leaves the next message a prompt', async () => {
    const id = await create(server, { mode: 'ask' })
    await exchange(server, id, play(ask, [success]))
    expect(await result(server, 'session.interrupt', { sessionId: id })).toMatchObject({ interrupted: true })
    const events = await exchange(server, id, play([hello(), text('m9', 'new'), success]))
    expect(events).toEqual([init, said('new'), ...ended])
  })
})

describe('a question', () => {
  const options = [{ label: 'FastAPI', description: 'async' }, { label: 'Flask' }]
  const question = (id: string, multiple = false) => ({ id, text: `${id}?`, options, multiple, other: true })
  const opened = (blocking: boolean, questions: ReturnType<typeof question>[]): Emitted => ({
    type: 'request.opened',
    requestId: 'r1',
    kind: 'question',
    blocking,
    options: [],
    questions,
  })
  const ask = (...questions: ReturnType<typeof question>[]) => opened(true, questions)

  test.each<[string, string, ReturnType<typeof question>[], Record<string, string[]>]>([
    ['its label', 'flask', [question('a')], { a: ['Flask'] }],
    ['what was shown of it', 'FastAPI (async)', [question('a')], { a: ['FastAPI'] }],
    ['its number', '2', [question('a')], { a: ['Flask'] }],
    ['a number there is not', '3', [question('a')], { a: ['3'] }],
    ['words of their own', 'neither, use axum', [question('a')], { a: ['neither, use axum'] }],
    ['several', '1, flask', [question('a', true)], { a: ['FastAPI', 'Flask'] }],
    ['several and more', '1, axum', [question('a', true)], { a: ['1, axum'] }],
    ['a line for each', '1\nFlask', [question('a'), question('b')], { a: ['FastAPI'], b: ['Flask'] }],
    [
      'one for all',
      'as you like',
      [question('a'), question('b')],
      { a: ['as you like'], b: ['as you like'] },
    ],
  ])('is answered with %s', async (_, message, questions, answers) => {
    const id = await create(server)
    await exchange(server, id, play([hello(), { say: ask(...questions) }], [success]))
    expect(await exchange(server, id, message)).toContainEqual(
      said(`told ${JSON.stringify({ decision: 'answered', answers })}`),
    )
  })

  test('that offers no free text refuses one with its choices, and stays open', async () => {
    const id = await create(server)
    const closed = { ...question('a'), other: false }
    await exchange(server, id, play([hello(), { say: ask(closed) }], [success]))
    const message = 'answers.a: "axum" is not offered; choose one of FastAPI, Flask'
    const error = { type: 'error', message, code: 'invalid_request' }
    expect(await exchange(server, id, 'axum')).toEqual([error, '[DONE]'])
    expect(await exchange(server, id, 'Flask')).toContainEqual(
      said('told {"decision":"answered","answers":{"a":["Flask"]}}'),
    )
  })

  test('that does not block ends the exchange, and the next message is its answer', async () => {
    const id = await create(server)
    const prompt = play([hello(), { say: opened(false, [question('a')]) }], [success])
    expect((await exchange(server, id, prompt)).slice(-3)).toEqual([
      expect.objectContaining({ tool: 'AskUserQuestion', request_id: 'r1' }),
      ...ended,
    ])
    expect(await exchange(server, id, 'flask')).toEqual([
      init,
      said('told {"decision":"answered","answers":{"a":["Flask"]}}'),
      ...ended,
    ])
    expect(await record(id)).toMatchObject({ turns: 1, queue: [], requests: [] })
  })

  test('that does not block and goes with its turn leaves the next message a prompt', async () => {
    const id = await create(server)
    const withdrawn: Emitted = { type: 'request.withdrawn', requestId: 'r1', reason: 'agent' }
    const asking = [hello(), { say: opened(false, [question('a')]) }, { say: withdrawn, wait: true }, success]
    await exchange(server, id, play(asking))
    await server.gate.open()
    await expect.poll(async () => (await record(id))?.openTurn).toBeUndefined()
    const events = await exchange(server, id, play([hello(), text('m9', 'new'), success]))
    expect(events).toEqual([init, said('new'), ...ended])
  })
})
