import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decodeJournal,
  encodeJournal,
  joinFrames,
  splitFrames,
} from '../../src/stores/sqlite/journal-body.ts'
import type { JournalFrame } from '../../src/stores/store.ts'

const through = (frames: readonly JournalFrame[]) =>
  splitFrames(decodeJournal(encodeJournal(joinFrames(frames))))

describe('a body of the journal', () => {
  test('gives back every frame, whatever is in it', () => {
    // Any sequence of 16-bit units, so half surrogate pairs, NUL and newlines are among them.
    const units = fc.array(fc.nat(0xffff), { maxLength: 40 })
    const text = units.map((codes) => String.fromCharCode(...codes))
    const frame = fc.record({ frame: fc.nat(), stream: text, text })
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1 }), (frames) => {
        expect(through(frames)).toEqual(frames)
      }),
    )
  })

  test.each([
    ['plain', 'line\n\u2028é\u{1F680}\0'],
    ['with half a surrogate pair', 'cut \ud83d'],
  ])('is compressed when it is large: %s', (_what, text) => {
    const small = [{ frame: 1, stream: 'stdout', text }]
    const large = [{ frame: 1, stream: 'stdout', text: text.repeat(2000) }]
    expect(through(small)).toEqual(small)
    expect(through(large)).toEqual(large)
    expect(encodeJournal(joinFrames(small)).body.length).toBeGreaterThan(text.length)
    expect(encodeJournal(joinFrames(large)).body.length).toBeLessThan(2000)
  })
})
