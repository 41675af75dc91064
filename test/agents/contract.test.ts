import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs, someOf } from '../long.ts'
import { decodeFixture, decodeLines, type Fixture, fixtures } from './fixtures.ts'
import { unfaithful, violations } from './invariants.ts'
import { mutatedLines, withUnknownFields } from './mutations.ts'

const encoder = new TextEncoder()
const programs = Map.groupBy(fixtures, ({ program }) => program)

/** Every recording a few times in each run, with other cuts in every run; the seed is printed when one fails. */
const RUNS_PER_PROGRAM = runs(15, 150)

describe.each([...programs])('recordings of %s', (_program, recordings) => {
  test.each(recordings)('$scenario: every frame is accounted for and every log is whole', (fixture) => {
    const { entries, coverage } = decodeFixture(fixture)
    const { frames, mapped, unmapped, malformed, oversized } = coverage
    expect(mapped + unmapped + malformed + oversized).toBe(frames)
    expect(unmapped).toBe(0)
    expect(violations(entries)).toEqual([])
    expect(unfaithful(entries)).toEqual([])
  })

  test.each(recordings)('$scenario: cut after any line, everything is settled', (fixture) => {
    for (const count of someOf([...fixture.lines.keys()], 12)) {
      const { entries } = decodeLines(fixture, fixture.lines.slice(0, count))
      expect({ count, found: violations(entries) }).toEqual({ count, found: [] })
    }
  })

  const anyRecording = fc.constantFrom(...recordings)

  test('cut at any byte, everything is settled', () => {
    fc.assert(
      fc.property(anyRecording, fc.nat(), (fixture, at) => {
        const bytes = encoder.encode(fixture.lines.join(''))
        const { entries } = decodeFixture(fixture, [bytes.subarray(0, at % (bytes.length + 1))])
        expect(violations(entries)).toEqual([])
      }),
      { numRuns: RUNS_PER_PROGRAM },
    )
  })

  test('how the bytes were chunked does not matter', () => {
    fc.assert(
      fc.property(
        anyRecording,
        fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }),
        (fixture, sizes) => {
          const whole = decodeFixture(fixture)
          expect(decodeFixture(fixture, chunked(fixture, sizes)).entries).toEqual(whole.entries)
        },
      ),
      { numRuns: RUNS_PER_PROGRAM },
    )
  })

  test('frames bent out of shape never throw and never leave anything open', () => {
    fc.assert(
      fc.property(anyRecording.chain(mutatedLines), ({ fixture, lines }) => {
        expect(violations(decodeLines(fixture, lines).entries)).toEqual([])
      }),
      { numRuns: RUNS_PER_PROGRAM },
    )
  })

  test('repeated frames with the same ids are the same or new items, and never mixed up', () => {
    const stretch = fc.record({
      at: fc.nat(),
      length: fc.integer({ min: 1, max: 12 }),
      times: fc.integer({ min: 1, max: 3 }),
    })
    fc.assert(
      fc.property(anyRecording, stretch, (fixture, { at, length, times }) => {
        const { lines } = fixture
        const from = at % Math.max(1, lines.length)
        const again = Array.from({ length: times }, () => lines.slice(from, from + length)).flat()
        const { entries } = decodeLines(fixture, [...lines.slice(0, from), ...again, ...lines.slice(from)])
        // Who asks again after the answer wants another one.
        expect(violations(entries).filter((found) => !found.endsWith(' opens twice'))).toEqual([])
      }),
      { numRuns: RUNS_PER_PROGRAM },
    )
  })

  test('unknown fields change nothing', () => {
    fc.assert(
      fc.property(anyRecording, (fixture) => {
        const { entries } = decodeLines(fixture, fixture.lines.map(withUnknownFields))
        expect(entries).toEqual(decodeFixture(fixture).entries)
      }),
      { numRuns: Math.min(RUNS_PER_PROGRAM, recordings.length * 2) },
    )
  })

  test('a frame of an unknown type is kept whole and changes nothing else', () => {
    fc.assert(
      fc.property(anyRecording, fc.nat(), (fixture, at) => {
        const { lines } = fixture
        const index = at % (lines.length + 1)
        const { entries } = decodeLines(fixture, [
          ...lines.slice(0, index),
          unknownLine(fixture),
          ...lines.slice(index),
        ])
        const others = entries.filter(({ event }) => event.type !== 'native.unmapped')
        expect(entries.length - others.length).toBe(1)
        expect(others.map(({ event }) => event)).toEqual(
          decodeFixture(fixture).entries.map(({ event }) => event),
        )
      }),
      { numRuns: RUNS_PER_PROGRAM },
    )
  })
})

test('arbitrary bytes never throw', () => {
  const [any] = fixtures
  fc.assert(
    fc.property(fc.constantFrom(...fixtures), fc.uint8Array({ maxLength: 400 }), (fixture, bytes) => {
      expect(violations(decodeFixture(fixture ?? any, [bytes]).entries)).toEqual([])
    }),
  )
})

/** Each program's own way of saying something it never said before. */
function unknownLine({ lines }: Fixture): string {
  const news = '{"type":"something_new","method":"something/new","params":{},"payload":{"a":[1]},"id":"new"}'
  const transcript = lines[0]?.includes('"dir":') ?? false
  return transcript ? `{"t":0,"dir":"out","msg":${news.replace(',"id":"new"', '')}}\n` : `${news}\n`
}

function chunked(fixture: Fixture, sizes: readonly number[]): Uint8Array[] {
  const bytes = encoder.encode(fixture.lines.join(''))
  const chunks: Uint8Array[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}
