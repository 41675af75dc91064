import { describe, expect, test } from 'vitest'
import type { Event } from '../../../src/model/index.ts'
import { bash, begun, colours, completed, delta, hello, sayWith, system, whole } from './daemon-scene.ts'

describe('raw', () => {
  const frame = '{"type":"native","n":1}'
  const events: Event[] = [...begun, hello, whole('m1', 'a'), { type: 'tool.started', ...bash }]

  test('is the frame of a message, for readers that ask for it', () => {
    expect(sayWith({ raw: '1' }, frame, ...events).map(({ raw }) => raw)).toEqual(
      Array(3).fill({ type: 'native', n: 1 }),
    )
    expect(sayWith({}, frame, ...events).some((message) => 'raw' in message)).toBe(false)
    expect(sayWith({ raw: '1' }, undefined, ...events).some((message) => 'raw' in message)).toBe(false)
  })

  test('is not given to a message that came from elsewhere', () => {
    const messages = sayWith({ raw: '1' }, frame, ...begun, whole('m1', 'a'), delta('m2', 'b'))
    expect(messages.map(({ raw }) => raw !== undefined)).toEqual([false, true, false])
    expect(sayWith({ raw: '1' }, frame, ...begun, colours).map(({ raw }) => raw !== undefined)).toEqual([
      false,
      true,
      false,
    ])
  })

  test.each(['not json', '[1]', 'null', '"text"'])('omits the frame %s, which is not an object', (text) => {
    expect(sayWith({ raw: '1' }, text, ...begun, hello)).toEqual([system])
  })

  test('of a result has its duration and its usage, unless the frame contains them', () => {
    const usage = { input: 200, output: 50, cacheRead: 40, cacheWrite: 20, total: 310 }
    const ours = {
      duration_ms: 1439,
      usage: {
        input_tokens: 200,
        output_tokens: 50,
        cache_read_input_tokens: 40,
        cache_creation_input_tokens: 20,
      },
    }
    const last = (raw?: string) => sayWith({ raw: '1' }, raw, ...begun, completed({ usage })).at(-1)?.raw
    expect(last()).toEqual(ours)
    expect(last('{"duration_ms":7}')).toEqual({ ...ours, duration_ms: 7 })
    expect(sayWith({ raw: '1' }, undefined, ...begun, completed()).at(-1)?.raw).toEqual({ duration_ms: 1439 })
  })
})
