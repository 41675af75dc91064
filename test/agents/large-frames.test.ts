import { describe, expect, test } from 'vitest'
import { decodeRecording } from '../../src/compose/decode.ts'
import { jsonFrame } from '../../src/framing/frame.ts'
import { blobReference } from '../../src/model/blob.ts'
import type { Entry, Event, LaunchKind } from '../../src/model/index.ts'
import { Talk } from './claude/claude-talk.ts'
import { violations } from './invariants.ts'

const LARGE = 'JVBERi0x'.repeat(1_100_000)
const encoder = new TextEncoder()

const init = {
  type: 'system',
  subtype: 'init',
  session_id: 's',
  model: 'm',
  tools: [],
  permissionMode: 'default',
}
const call = {
  type: 'assistant',
  message: {
    id: 'm1',
    content: [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/a.pdf' } }],
  },
}
const result = { type: 'result', subtype: 'success', is_error: false, result: 'done', duration_ms: 1 }
/** A document twice, as the result of `Read` on a PDF has it. */
const pdf = {
  type: 'user',
  message: {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't1', content: `${LARGE}${LARGE}` }],
  },
  tool_use_result: { type: 'pdf', file: { filePath: '/a.pdf', base64: LARGE } },
}
const prompt = { dir: 'in', msg: { type: 'user', message: { role: 'user', content: 'read it' } } }

function claude(launch: LaunchKind, ...natives: readonly unknown[]) {
  const lines = launch === 'live' ? [prompt, ...natives.map((msg) => ({ dir: 'out', msg }))] : natives
  return decode('claude', launch, lines)
}

function decode(agent: string, launch: LaunchKind, lines: readonly unknown[]) {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const { entries, coverage } = decodeRecording({
    agent,
    launch,
    stdout: [encoder.encode(text)],
    exit: { code: 0 },
  })
  expect(violations(entries)).toEqual([])
  expect(coverage).toMatchObject({ oversized: 0, malformed: 0 })
  return entries
}

function only<T extends Event['type']>(entries: readonly Entry[], type: T) {
  const [entry, ...more] = entries.filter(({ event }) => event.type === type)
  if (!entry || more.length > 0) throw new Error(`${more.length + 1} entries of ${type}`)
  return { blobs: entry.blobs ?? [], event: entry.event as Extract<Event, { type: T }> }
}

describe.each(['oneshot', 'live'] as const)('claude %s', (launch) => {
  test('a large tool result is a success, and refers to its texts', () => {
    const entries = claude(launch, init, call, pdf, result)
    const { event, blobs } = only(entries, 'tool.completed')
    expect(event.status).toBe('success')
    expect(blobs.map(({ bytes }) => bytes)).toEqual([LARGE.length * 2, LARGE.length])
    const [output, file] = blobs
    expect(event.output).toContain(output && blobReference(output))
    expect(JSON.stringify(event.data)).toContain(file && blobReference(file))
    expect(only(entries, 'turn.completed').event.outcome).toBe('completed')
  })

  test('a large result completes the turn', () => {
    const entries = claude(launch, init, { ...result, result: `${LARGE}${LARGE}` })
    const { event, blobs } = only(entries, 'turn.completed')
    expect(event.outcome).toBe('completed')
    expect(event.result).toContain(blobs[0] && blobReference(blobs[0]))
  })
})

test('codex: a large command output is a success', () => {
  const item = {
    id: 'item_0',
    type: 'command_execution',
    command: 'cat a',
    status: 'completed',
    exit_code: 0,
  }
  const entries = decode('codex', 'oneshot', [
    { type: 'thread.started', thread_id: 't' },
    { type: 'item.completed', item: { ...item, aggregated_output: `${LARGE}${LARGE}` } },
    { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
  ])
  const { event, blobs } = only(entries, 'tool.completed')
  expect([event.status, blobs.length]).toEqual(['success', 1])
  expect(only(entries, 'turn.completed').event.outcome).toBe('completed')
})

test('opencode: a large tool part is a success', () => {
  const state = { status: 'completed', input: { filePath: '/a' }, output: `${LARGE}${LARGE}`, title: 'a' }
  const part = { id: 'p', sessionID: 's', messageID: 'm', type: 'tool', tool: 'read', callID: 'c', state }
  const entries = decode('opencode', 'oneshot', [
    { type: 'tool_use', sessionID: 's', part },
    { type: 'step_finish', sessionID: 's', part: { type: 'step-finish', reason: 'stop' } },
  ])
  const { event, blobs } = only(entries, 'tool.completed')
  expect([event.status, blobs.length]).toEqual(['success', 1])
})

test('a permission request with a large input is asked, digested as a whole, and allowed with its own input', () => {
  const asked = (id: string, digest: string) => {
    const blob = { id, bytes: 20_000_000 }
    const native = {
      type: 'control_request',
      request_id: 'r1',
      request: {
        subtype: 'can_use_tool',
        tool_name: 'Write',
        input: { file_path: '/a', content: `abc… ${blobReference(blob)}` },
      },
    }
    const talk = new Talk()
    talk.hear(init)
    const large = [{ blob, text: `abc… ${blobReference(blob)}`, digest }]
    talk.conversation.frame({ ...jsonFrame('stdout', JSON.stringify(native)), large })
    const request = talk.events.find((event) => event.type === 'request.opened')
    return { talk, digest: request?.inputDigest, id: request?.requestId ?? '' }
  }
  const one = asked('b1', 'sum')
  expect(one.digest).toContain('sum')
  expect(asked('b2', 'sum').digest).toBe(one.digest)
  expect(asked('b3', 'other').digest).not.toBe(one.digest)
  expect(one.talk.answer(one.id, { decision: 'allow' })).toMatchObject([
    { response: { request_id: 'r1', response: { behavior: 'allow' } } },
  ])
  expect(JSON.stringify(asked('b1', 'sum').talk.answer(one.id, { decision: 'allow' }))).not.toContain('blob')
})
