import { describe, expect, test } from 'vitest'
import { Talk, update } from './acp-talk.ts'

describe('a text that an agent shows next to the output', () => {
  const shown = (...texts: string[]) =>
    texts.map((text) => ({ type: 'content', content: { type: 'text', text } }))
  const ended = (end: object) => {
    const talk = new Talk('qwen').begin()
    talk.hear(
      update('tool_call', { toolCallId: 't1', title: 'x', kind: 'execute', rawInput: { command: 'x' } }),
      update('tool_call_update', { toolCallId: 't1', status: 'completed', ...end }),
    )
    return talk.only('tool.completed')[0]
  }

  test.each([
    ['is the output', 'one\n', ['one']],
    ['is a part of it', 'one\ntwo\n', ['two']],
    ['is the output as a block of code', 'one\ntwo\n', ['```console\none\ntwo\n```']],
  ])('is not repeated if it %s', (_, rawOutput, texts) => {
    const end = ended({ rawOutput, content: shown(...texts) })
    expect(end).toMatchObject({ output: rawOutput })
    expect(end).not.toHaveProperty('data')
  })

  test('is in `data` if it differs', () => {
    expect(ended({ rawOutput: 'one', content: shown('Directory: /a', 'Output: one') })).toMatchObject({
      output: 'one',
      data: { shown: 'Directory: /a\nOutput: one' },
    })
    const fenced = '```\nanother\n```'
    const rawOutput = { output: 'one', code: 1 }
    expect(ended({ rawOutput, content: shown(fenced) })).toMatchObject({
      output: 'one',
      data: { ...rawOutput, shown: fenced },
    })
    expect(ended({ rawOutput: 'one', content: shown('one') })).not.toHaveProperty('data')
  })

  test('is progress if it is the next part of a long output', () => {
    const talk = new Talk('copilot').begin()
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join('')
    const windows = [lines(0, 30), lines(0, 40), lines(20, 60), lines(90, 99)]
    talk.hear(
      update('tool_call', { toolCallId: 't1', title: 'x', kind: 'execute', rawInput: { command: 'x' } }),
      ...windows.map((text) => update('tool_call_update', { toolCallId: 't1', content: shown(text) })),
    )
    expect(talk.only('tool.progressed').map(({ output }) => output)).toEqual([
      lines(0, 30),
      lines(30, 40),
      lines(40, 60),
      lines(90, 99),
    ])
  })

  test('is in the request that it comes with', () => {
    const talk = new Talk('qwen').begin()
    const note = 'Review it manually.'
    const ask = (id: number, toolCallId: string, rawInput: object) => ({
      jsonrpc: '2.0',
      id,
      method: 'session/request_permission',
      params: {
        sessionId: 's1',
        toolCall: { toolCallId, title: 'x', kind: 'execute', rawInput, content: shown(note) },
        options: [{ optionId: 'a', name: 'Allow', kind: 'allow_once' }],
      },
    })
    talk.hear(ask(7, 't1', { command: 'x' }), ask(8, 't2', { plan: note }))
    const [first, second] = talk.only('request.opened')
    expect(first).toMatchObject({ input: { command: 'x' }, data: { shown: note } })
    expect(second).not.toHaveProperty('data')
  })
})
