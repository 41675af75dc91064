import { describe, expect, test } from 'vitest'
import { continueExchange, daemon } from '../../../src/dialects/daemon.ts'
import type { Event } from '../../../src/model/index.ts'
import { entriesOf } from '../entries.ts'
import { bash, begun, colours, completed, delta, hello, result, say, system, whole } from './daemon-scene.ts'

describe('text', () => {
  test('that was dropped and repeated is not sent twice', () => {
    expect(
      say(
        delta('m1', 'Hello fr'),
        { type: 'message.discarded', messageId: 'm1', reason: 'stream_broken' },
        delta('m2', 'Hello from'),
        delta('m2', ' me.'),
        whole('m2', 'Hello from me.'),
      ),
    ).toEqual([
      { type: 'partial', content: 'Hello fr' },
      { type: 'partial', content: 'om' },
      { type: 'partial', content: ' me.' },
      { type: 'text', content: 'Hello from me.' },
    ])
  })

  test('that was dropped and repeated as a whole is not looked for again', () => {
    const messages = say(
      delta('m1', 'Hello fr'),
      { type: 'message.discarded', messageId: 'm1', reason: 'stream_broken' },
      whole('m2', 'Hello from me.'),
      delta('m3', 'Hello'),
    )
    expect(messages.slice(1)).toEqual([
      { type: 'text', content: 'Hello from me.' },
      { type: 'partial', content: 'Hello' },
    ])
  })

  test.each(['interrupted', 'failed'] as const)('that was cut is not sent again before %s', (outcome) => {
    const cut: Event = { type: 'text.completed', messageId: 'm1', text: 'Let me ', partial: true }
    const types = say(delta('m1', 'Let me '), cut, completed({ outcome })).map(({ type }) => type)
    expect(types).toEqual(['partial', outcome === 'failed' ? 'error' : outcome])
  })

  test('that was cut is whole where the turn continues, and where its partials are missing', () => {
    const cut: Event = { type: 'text.completed', messageId: 'm1', text: 'Let me ', partial: true }
    const text = { type: 'text', content: 'Let me ' }
    expect(say(delta('m1', 'Let me '), cut, delta('m2', 'Now ')).slice(1)).toEqual([
      text,
      { type: 'partial', content: 'Now ' },
    ])
    expect(say(delta('m1', 'Let '), cut, completed({ outcome: 'interrupted' })).slice(1)).toEqual([
      text,
      { type: 'interrupted' },
    ])
  })

  test('that was discarded in one turn does not affect the next', () => {
    const messages = say(
      delta('m1', 'Hello'),
      { type: 'message.discarded', messageId: 'm1', reason: 'stream_broken' },
      completed({ outcome: 'interrupted' }),
      { type: 'turn.started', turn: 2, origin: 'prompt' },
      delta('m2', 'Hello again'),
    )
    expect(messages.at(-1)).toEqual({ type: 'partial', content: 'Hello again' })
  })

  test('that a question cuts in two is whole over both streams, and not repeated', () => {
    const cut = (...rest: Event[]) => say(delta('m1', 'Shall '), colours, ...rest).slice(3)
    expect(cut(whole('m1', 'Shall '))).toEqual([])
    expect(cut(delta('m1', 'I?'), whole('m1', 'Shall I?'))).toEqual([
      system,
      { type: 'partial', content: 'I?' },
      { type: 'text', content: 'I?' },
    ])
    expect(cut(delta('m1', 'I '), { ...colours }, whole('m1', 'Shall I go?')).slice(-2)).toEqual([
      system,
      { type: 'text', content: 'go?' },
    ])
    expect(cut(whole('m1', 'Shall'))).toEqual([])
    expect(cut(whole('m1', 'May I?'))).toEqual([system, { type: 'text', content: 'May I?' }])
  })

  test('continues after a question that was already answered', () => {
    const state = daemon.initial({})
    const events = [...begun, hello, delta('m1', 'Shall '), colours]
    const said = entriesOf(...events).flatMap((entry) => daemon.project(state, entry))
    expect(said.at(-1)).toEqual(result)
    continueExchange(state)
    const rest = entriesOf(delta('m1', 'I?'), whole('m1', 'Shall I?'))
    expect(rest.flatMap((entry) => daemon.project(state, entry))).toEqual([
      { type: 'partial', content: 'I?' },
      { type: 'text', content: 'Shall I?' },
    ])
  })

  test('of sub-agents stays out, their tools do not', () => {
    expect(
      say(
        { type: 'text.delta', messageId: 'c', text: 'child', parent: 's1' },
        { type: 'text.completed', messageId: 'c', text: 'child', parent: 's1' },
        { type: 'tool.started', ...bash, parent: 's1' },
      ),
    ).toEqual([{ type: 'tool_use', tool: 'Bash' }])
  })
})
