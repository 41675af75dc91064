import { describe, expect, test } from 'vitest'
import { codec } from '../../../src/agents/gemini/codec.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import { emitted, startOf, verdictOf } from './gemini-talk.ts'

describe('shapes that are documented and were never seen', () => {
  test.each([
    ['content', { type: 'content', value: 'Hi' }],
    ['text', { text: 'Hi' }],
    ['candidates', { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }],
  ])('%s is a piece of text', (_name, line) => {
    expect(emitted([line])[0]).toEqual({ type: 'text.delta', messageId: 'e3.m1', text: 'Hi' })
  })

  test.each([
    ['content', { type: 'content', value: 'Hi' }],
    ['text', { text: 'Hi' }],
    ['candidates', { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }],
  ])('%s has no result, so exit code 0 is the success', (_, line) => {
    const told = emitted([line])
    expect(told.slice(1)).toEqual([
      { type: 'text.completed', messageId: 'e3.m1', text: 'Hi' },
      { type: 'turn.verdict', evidence: 'success', result: 'Hi', denials: 0, personDenials: 0 },
    ])
    expect(verdictOf([line], { code: 1, cause: 'exit' }).evidence).not.toBe('success')
    expect(verdictOf([line], { signal: 'SIGTERM', cause: 'exit' }).evidence).not.toBe('success')
  })

  test('all parts of one answer are emitted, thoughts as thinking, and other parts are kept', () => {
    const state = codec.initial(startOf())
    const decode = (...parts: object[]) => {
      const line = JSON.stringify({ candidates: [{ content: { parts } }] })
      return codec.decode(state, jsonFrame('stdout', line))
    }
    const call = { functionCall: { name: 'glob', args: {} } }
    const steps = [
      decode({ text: 'Let me ', thought: true }),
      decode({ text: 'think.', thought: true }, { text: 'Hello ' }, { text: 'world' }, call),
    ]
    expect(steps.map(({ verdict }) => verdict)).toEqual(['mapped', 'unmapped'])
    const told = [...steps, codec.end(state, { code: 0, cause: 'exit' })].flatMap((step) => step.emitted)
    expect(told.slice(0, -1)).toEqual([
      { type: 'thinking.delta', messageId: 'e3.m1', text: 'Let me ' },
      { type: 'thinking.delta', messageId: 'e3.m1', text: 'think.' },
      { type: 'thinking.completed', messageId: 'e3.m1', text: 'Let me think.' },
      { type: 'text.delta', messageId: 'e3.m2', text: 'Hello ' },
      { type: 'text.delta', messageId: 'e3.m2', text: 'world' },
      { type: 'native.unmapped', nativeType: 'candidates', frame: expect.stringContaining('functionCall') },
      { type: 'text.completed', messageId: 'e3.m2', text: 'Hello world' },
    ])
  })

  test('a second candidate is another answer, which is kept but not emitted', () => {
    const candidates = ['one', 'two'].map((text) => ({ content: { parts: [{ text }] } }))
    const { emitted, verdict } = codec.decode(
      codec.initial(startOf()),
      jsonFrame('stdout', JSON.stringify({ candidates })),
    )
    expect(verdict).toBe('unmapped')
    expect(emitted.map(({ type }) => type)).toEqual(['text.delta', 'native.unmapped'])
  })

  const call = { type: 'tool_call', name: 'write_file', args: { file_path: '/a', content: 'b' } }

  test.each([
    ['text', { type: 'content', value: 'Done.' }],
    ['another call', call],
    ['a result', { type: 'result', status: 'success' }],
  ])('a call succeeded once %s follows it', (_, next) => {
    expect(emitted([call, next]).slice(0, 3)).toMatchObject([
      { type: 'tool.started', toolId: 'e3.c1', name: 'write_file', input: call.args },
      { type: 'file.changed', toolId: 'e3.c1', path: '/a', change: 'created', after: 'b' },
      { type: 'tool.completed', toolId: 'e3.c1', status: 'success' },
    ])
  })

  test.each([
    ['an error', { type: 'error', status: 'error', error: { code: 'X', message: 'x' } }],
    ['a failed result', { type: 'result', status: 'error' }],
  ])('the end of a call before %s is unknown', (_, next) => {
    expect(emitted([call, next]).slice(0, 2)).toMatchObject([
      { type: 'tool.started', toolId: 'e3.c1' },
      { type: 'tool.completed', toolId: 'e3.c1', status: 'unknown' },
    ])
  })

  test('a retry discards the partial text that will be repeated', () => {
    expect(emitted([{ type: 'content', value: 'ha' }, { type: 'retry' }]).slice(1, 3)).toEqual([
      { type: 'message.discarded', messageId: 'e3.m1', reason: 'stream_broken' },
      { type: 'limit.reported', kind: 'retry' },
    ])
  })

  test('the documented figures are counted like the real ones', () => {
    const stats = {
      total_tokens: 370,
      input_tokens: 100,
      output_tokens: 250,
      thought_tokens: 20,
      cache_tokens: 40,
      tool_tokens: 0,
      duration_ms: 5000,
    }
    expect(verdictOf([{ type: 'result', status: 'success', stats }])).toMatchObject({
      evidence: 'success',
      durationMs: 5000,
      usage: { input: 60, output: 270, cacheRead: 40, reasoning: 20, total: 370 },
    })
  })

  test('a cancelled result is an interruption', () => {
    expect(verdictOf([{ type: 'result', status: 'cancelled' }]).evidence).toBe('aborted')
  })

  test('an error with a code is a notice, and the verdict when nothing follows', () => {
    const error = { code: 'INVALID_CHUNK', message: 'Stream ended with invalid chunk' }
    const line = { type: 'error', status: 'error', error }
    expect(emitted([line])[0]).toMatchObject({
      code: 'agent_error',
      message: error.message,
      data: { code: error.code },
    })
    expect(verdictOf([line])).toMatchObject({ evidence: 'error', error: { message: error.message } })
  })
})
