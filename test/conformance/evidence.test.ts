import { describe, expect, it } from 'vitest'
import { brokenPromises } from '../../conformance/evidence.ts'
import type { Entry, Event } from '../../src/index.ts'

const STARTED: Event = { type: 'turn.started', turn: 1, origin: 'prompt' }
const ENDED: Event = { type: 'turn.completed', turn: 1, outcome: 'completed', durationMs: 1, denials: 0 }
const CALL: Event = { type: 'tool.started', toolId: 't', name: 'Bash', kind: 'execute' }
const RESULT: Event = {
  type: 'tool.completed',
  toolId: 't',
  name: 'Bash',
  kind: 'execute',
  status: 'success',
}
const PIECES: Event[] = ['a', 'b'].map((text) => ({ type: 'text.delta', messageId: 'm', text }))

const logOf = (...events: Event[]): Entry[] =>
  events.map((event, index) => ({ seq: index + 1, session: 's', at: 0, event }))

describe('a log', () => {
  it('that keeps every promise has nothing to say', () => {
    const whole: Event = { type: 'text.completed', messageId: 'm', text: 'ab' }
    expect(brokenPromises(logOf(STARTED, ...PIECES, whole, CALL, RESULT, ENDED))).toEqual([])
  })

  it.each<[string, Event[], RegExp]>([
    ['a turn without an end', [STARTED], /turn 1 has 0 terminal/],
    ['a turn with two ends', [STARTED, ENDED, ENDED], /turn 1 has 2 terminal/],
    [
      'a prompt that waits for ever',
      [{ type: 'turn.queued', turn: 2, prompt: 'p', position: 1 }],
      /turn 2 has 0 terminal/,
    ],
    ['a frame that no rule knows', [{ type: 'native.unmapped', nativeType: 'new' }], /no rule knows new/],
    ['a call without an end', [CALL], /Bash ended 0 times/],
    ['a call with two ends', [CALL, RESULT, RESULT], /Bash ended 2 times/],
    [
      'a request without a canonical name',
      [
        {
          type: 'request.opened',
          requestId: 'r',
          kind: 'permission',
          blocking: true,
          tool: 'Bash',
          inputDigest: '0',
          options: [],
        },
      ],
      /Bash has no canonical name/,
    ],
    ['pieces without a whole', PIECES, /pieces of message m/],
    ['pieces of another text', [...PIECES, { type: 'text.completed', messageId: 'm', text: 'a' }], /pieces/],
  ])('%s is named', (_name, events, message) => {
    expect(brokenPromises(logOf(...events)).join()).toMatch(message)
  })

  it('may have pieces of a message that was dropped', () => {
    const dropped: Event = { type: 'message.discarded', messageId: 'm', reason: 'stream_broken' }
    expect(brokenPromises(logOf(...PIECES, dropped))).toEqual([])
  })

  it('with a gap is named', () => {
    const [first, second] = logOf(STARTED, ENDED)
    if (!first || !second) throw new TypeError('two entries were made')
    expect(brokenPromises([first, { ...second, seq: 3 }]).join()).toMatch(/entry 2 has the number 3/)
  })
})
