import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AppendOnlyText,
  appendAgain,
  appendDelta,
  appendWhole,
  newAppendOnlyText,
} from '../../src/dialects/kit/append-only-text.ts'

/** Says a message in pieces, and all of it at the end unless it is cut. */
function tell(
  state: AppendOnlyText,
  messageId: string,
  pieces: readonly string[],
  end: 'whole' | 'dropped',
): string {
  let sent = ''
  for (const text of pieces) sent += appendDelta(state, { messageId, text })
  if (end === 'whole') sent += appendWhole(state, { messageId, text: pieces.join('') })
  else appendAgain(state, messageId)
  return sent
}

describe('a message', () => {
  test('that came in pieces is not sent again when it is whole', () => {
    expect(tell(newAppendOnlyText(), 'm1', ['Hello ', 'world'], 'whole')).toBe('Hello world')
  })

  test('without pieces is sent when it is whole', () => {
    expect(appendWhole(newAppendOnlyText(), { messageId: 'm1', text: 'Hello' })).toBe('Hello')
  })

  test('whose pieces were not all of it gets the rest', () => {
    const state = newAppendOnlyText()
    appendDelta(state, { messageId: 'm1', text: 'Hel' })
    expect(appendWhole(state, { messageId: 'm1', text: 'Hello' })).toBe('lo')
  })

  test('that differs from its deltas is sent whole on a new line', () => {
    const state = newAppendOnlyText()
    appendDelta(state, { messageId: 'm1', text: 'Helo' })
    expect(appendWhole(state, { messageId: 'm1', text: 'Hello' })).toBe('\nHello')
  })

  test.each([
    ['Hello world.\n', 'Hello world.', ''],
    ['\nHello', 'Hello', ''],
    [' Hello \n', 'Hello', ''],
    ['Hello', '\nHello\n', '\n'],
    ['\nHello wo', 'Hello world', 'rld'],
    ['Hello world', 'Hello', ''],
    ['\n', 'Hello', 'Hello'],
    ['Hello\n', 'Hello world', '\nHello world'],
  ])('whose pieces %j turn out to be %j gets %j', (piece, text, rest) => {
    const state = newAppendOnlyText()
    appendDelta(state, { messageId: 'm1', text: piece })
    expect(appendWhole(state, { messageId: 'm1', text })).toBe(rest)
  })

  test('of a sub-agent is not sent', () => {
    const state = newAppendOnlyText()
    expect(appendDelta(state, { messageId: 'm1', text: 'a', parent: 's1' })).toBe('')
    expect(appendWhole(state, { messageId: 'm1', text: 'a', parent: 's1' })).toBe('')
  })
})

describe('a repeated message', () => {
  test('is swallowed as far as the reader has it', () => {
    const state = newAppendOnlyText()
    const sent = [
      tell(state, 'm1', ['Hello fr', 'om the'], 'dropped'),
      tell(state, 'm2', ['Hello', ' from', ' the model'], 'whole'),
    ]
    expect(sent).toEqual(['Hello from the', ' model'])
  })

  test('with a different text is sent whole on a new line', () => {
    const state = newAppendOnlyText()
    const sent = [tell(state, 'm1', ['Hello'], 'dropped'), tell(state, 'm2', ['Help', ' me'], 'whole')]
    expect(sent).toEqual(['Hello', '\nHelp me'])
  })

  test('that ends earlier than the dropped one is sent whole on a new line', () => {
    const state = newAppendOnlyText()
    const sent = [tell(state, 'm1', ['Hello world'], 'dropped'), tell(state, 'm2', ['Hello'], 'whole')]
    expect(sent).toEqual(['Hello world', '\nHello'])
  })

  test('that differs in nothing but white space at its ends is not sent', () => {
    const state = newAppendOnlyText()
    expect(tell(state, 'm1', ['Hello world.\n'], 'dropped')).toBe('Hello world.\n')
    expect(appendWhole(state, { messageId: 'm2', text: 'Hello world.' })).toBe('')
    expect(tell(state, 'm3', ['Hello'], 'dropped')).toBe('Hello')
    expect(appendWhole(state, { messageId: 'm4', text: 'Hello\n' })).toBe('\n')
  })

  test('that is cut for good inside the part the reader has is not sent', () => {
    const state = newAppendOnlyText()
    expect(tell(state, 'm1', ['Hello wor'], 'dropped')).toBe('Hello wor')
    expect(appendDelta(state, { messageId: 'm2', text: 'Hel' })).toBe('')
    expect(appendWhole(state, { messageId: 'm2', text: 'Hel', partial: true })).toBe('')
  })

  test('may be dropped inside the part the reader has, and again', () => {
    const state = newAppendOnlyText()
    const sent = [
      tell(state, 'm1', ['Hello'], 'dropped'),
      tell(state, 'm2', ['He'], 'dropped'),
      tell(state, 'm3', ['Hello the'], 'dropped'),
      tell(state, 'm4', ['Hello there'], 'whole'),
    ]
    expect(sent.join('')).toBe('Hello there')
  })

  test('in several blocks is swallowed block by block', () => {
    const state = newAppendOnlyText()
    let sent = appendDelta(state, { messageId: 'm1:0', text: 'First.' })
    sent += appendDelta(state, { messageId: 'm1:1', text: 'Sec' })
    appendAgain(state, 'm1:0')
    appendAgain(state, 'm1:1')
    sent += tell(state, 'm2:0', ['First.'], 'whole')
    sent += tell(state, 'm2:1', ['Second.'], 'whole')
    expect(sent).toBe('First.Second.')
  })

  test('whose first block grew is not mixed into the second', () => {
    const state = newAppendOnlyText()
    let sent = appendDelta(state, { messageId: 'm1:0', text: 'First' })
    sent += appendDelta(state, { messageId: 'm1:1', text: 'Sec' })
    appendAgain(state, 'm1:0')
    appendAgain(state, 'm1:1')
    sent += tell(state, 'm2:0', ['First and more.'], 'whole')
    sent += tell(state, 'm2:1', ['Second.'], 'whole')
    expect(sent).toBe('FirstSec\nFirst and more.Second.')
  })

  test('an empty message in between changes nothing', () => {
    const state = newAppendOnlyText()
    const sent = [
      tell(state, 'm1', ['Hello'], 'dropped'),
      appendWhole(state, { messageId: 'm2', text: '' }),
      tell(state, 'm3', ['Hello!'], 'whole'),
    ]
    expect(sent.join('')).toBe('Hello!')
  })
})

const pieces = fc.array(fc.string({ maxLength: 6 }), { maxLength: 6 })

test('messages that are never discarded are sent unchanged for any chunking', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 5 }), (messages) => {
      const state = newAppendOnlyText()
      const sent = messages.map((message, index) => tell(state, `m${index}`, message, 'whole')).join('')
      expect(sent).toBe(messages.flat().join(''))
    }),
  )
})

test('a message broken off anywhere, any number of times, is read once', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.array(fc.nat(40), { maxLength: 4 }), (text, cuts) => {
      const state = newAppendOnlyText()
      const tries = cuts.map((cut, index) => tell(state, `try${index}`, [...text.slice(0, cut)], 'dropped'))
      expect([...tries, tell(state, 'last', [...text], 'whole')].join('')).toBe(text)
    }),
  )
})

test('after any discards, the client has the true message at the end', () => {
  const short = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 5 })
  fc.assert(
    fc.property(fc.array(short, { maxLength: 4 }), short, (dropped, text) => {
      const state = newAppendOnlyText()
      const tries = dropped.map((half, index) => tell(state, `try${index}`, [...half], 'dropped'))
      const sent = [...tries, tell(state, 'last', [...text], 'whole')].join('')
      expect(sent.endsWith(text)).toBe(true)
    }),
  )
})
