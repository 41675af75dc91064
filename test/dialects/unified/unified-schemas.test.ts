import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { agents } from '../../../src/agents/index.ts'
import { schema } from '../json-schema.ts'

/** The schemas as their document prints them, each with the digest of its text. */
const PRINTED = [
  ['board-event', 'e7a9177ac0fd42049f3b069a41bcedc7b83ffdb4c1c139da52f2b41efcf4a395'],
  ['unified-codex-event', '44a12948c82ca2f3fe9214f0efedf48e5cbf5b5b961ba961dd65bc83cec0a143'],
  ['unified-event', '8fd2f69c6fe506f309647ddca25d147fa72aebb1f5c3479ec26d5ebc346c1153'],
  ['unified-gemini-event', '248a74a5e789cf88ee91c3f7802093065732bd91c1320540b8dc65f230a4e5bc'],
  ['unified-request', '5bb0dbdc4ae0cfc5b53ddf0ab71224e03bd37597d9eea399dd5aaaf55548ac2e'],
] as const

const SESSION = '550e8400-e29b-41d4-a716-446655440000'
const TIME = '2025-12-03T10:00:00.000Z'

describe('the printed schemas', () => {
  test('are all here', () => {
    const files = globSync('docs/schemas/*.printed.json').sort()
    expect(files).toEqual(PRINTED.map(([name]) => `docs/schemas/${name}.printed.json`))
  })

  test.each(PRINTED)('%s is as it was printed', (name, digest) => {
    const text = readFileSync(`docs/schemas/${name}.printed.json`)
    expect(createHash('sha256').update(text).digest('hex')).toBe(digest)
  })

  test.each(PRINTED)('%s is a schema, and refuses what has no type', (name) => {
    expect(schema(`${name}.printed`)({ id: 'x' })).toBeDefined()
  })

  test.each([
    ['unified-codex-event', { type: 'thread.started', thread_id: 'sess_abc123xyz' }],
    ['unified-codex-event', { type: 'turn.completed', usage: { input_tokens: 100, output_tokens: 50 } }],
    ['unified-codex-event', { type: 'item.completed', item_type: 'agent_message', status: 'success' }],
    ['unified-gemini-event', { type: 'content', value: 'Analyzing the codebase structure...' }],
    ['unified-gemini-event', { type: 'tool_call', name: 'write_file', args: { file_path: './src/auth.ts' } }],
    [
      'unified-gemini-event',
      { type: 'result', status: 'success', stats: { total_tokens: 350 }, timestamp: TIME },
    ],
  ])('%s takes an example of its document: %o', (name, example) => {
    expect(schema(`${name}.printed`)(example)).toBeUndefined()
  })
})

describe.each(['.printed', ''])('the schemas with the ending "%s.json"', (ending) => {
  const started = (agentType: string) => ({
    id: 'evt_001',
    sessionId: 'sess_abc123',
    timestamp: TIME,
    type: 'sessionStarted',
    agentType,
    config: { model: 'gpt-4', approvalMode: 'ask', sandboxMode: 'workspaceWrite' },
  })
  const log = (id: string) => ({
    id,
    sessionId: SESSION,
    type: 'log',
    payload: { line: 'Analyzing project structure...' },
    timestamp: TIME,
  })
  const event = schema(`unified-event${ending}`)
  const request = schema(`unified-request${ending}`)
  const boardEvent = schema(`board-event${ending}`)

  test('take the examples of the document', () => {
    expect(event(started('codex'))).toBeUndefined()
    expect(request({ agentType: 'codex', prompt: 'Refactor', sessionId: SESSION })).toBeUndefined()
    expect(boardEvent(log('550e8400-e29b-41d4-a716-446655440001'))).toBeUndefined()
  })

  test('refuse what the document forbids, its own example of a board id among it', () => {
    expect(boardEvent(log('evt-550e8400-e29b-41d4-a716-446655440001'))).toMatch(/uuid/)
    expect(request({ agentType: 'codex', prompt: 'x'.repeat(100_001) })).toMatch(/100000/)
    expect(request({ agentType: 'codex', prompt: '', config: { maxTurns: 1001 } })).toMatch(/1000/)
    expect(event({ ...started('codex'), type: 'textChunk' })).toMatch(/content/)
  })

  test('know the agents of the document, and the widened ones all of ours', () => {
    const known = agents.map(({ id }) => id).filter((id) => event(started(id)) === undefined)
    expect(known.sort()).toEqual(
      ending === '' ? agents.map(({ id }) => id).sort() : ['claude', 'codex', 'gemini'],
    )
    expect(known).toEqual(known.filter((id) => request({ agentType: id, prompt: '' }) === undefined))
    expect(event(started('nobody'))).toMatch(/allowed values/)
  })
})

test('the widened schemas say what our own fields may hold', () => {
  const event = schema('unified-event')
  const ended = { id: 'evt_1', sessionId: SESSION, timestamp: TIME, type: 'sessionEnded', reason: 'failed' }
  expect(event({ ...ended, outcome: 'crashed' })).toBeUndefined()
  expect(event({ ...ended, outcome: 'completed' })).toMatch(/allowed values/)
  const board = schema('board-event')
  const result = { id: SESSION, sessionId: SESSION, timestamp: TIME, type: 'toolResult' }
  expect(board({ ...result, payload: { status: 'denied' } })).toBeUndefined()
  expect(board({ ...result, payload: { status: 'success' } })).toMatch(/allowed values/)
})
