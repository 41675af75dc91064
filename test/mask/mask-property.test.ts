import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Mask } from '../../src/mask/mask.ts'
import { maskedBlob } from '../../src/mask/masked-blobs.ts'
import type { Event } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { runs } from '../long.ts'
import { blobBytes } from '../stores/blob-bytes.ts'

/** Replaces every maximal run of overlapping occurrences, by comparing every secret at every place. */
function naive(text: string, secrets: readonly string[]): string {
  const found = secrets.flatMap((secret) =>
    [...text].flatMap((_, at) =>
      text.startsWith(secret, at) ? [{ start: at, end: at + secret.length }] : [],
    ),
  )
  found.sort((a, b) => a.start - b.start || b.end - a.end)
  const runs: { start: number; end: number }[] = []
  for (const one of found) {
    const last = runs.at(-1)
    if (last && one.start < last.end) last.end = Math.max(last.end, one.end)
    else runs.push({ ...one })
  }
  let masked = ''
  let at = 0
  for (const { start, end } of runs) {
    masked += `${text.slice(at, start)}[masked ${end - start}]`
    at = end
  }
  return masked + text.slice(at)
}

/** Few letters, so that secrets overlap, nest and repeat. */
const letters = (min: number, max: number) =>
  fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: min, maxLength: max }).map((some) => some.join(''))

const secretsAndText = fc.array(letters(8, 12), { minLength: 1, maxLength: 5 }).chain((secrets) =>
  fc.tuple(
    fc.constant(secrets),
    fc
      .array(fc.oneof(fc.constantFrom(...secrets), letters(0, 9)), { maxLength: 8 })
      .map((words) => words.join('')),
    fc.array(fc.nat(120), { maxLength: 12 }),
  ),
)

function cut(text: string, places: readonly number[]): string[] {
  const sorted = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...sorted].map((from, index) => text.slice(from, sorted[index] ?? text.length))
}

const delta = (text: string): Event => ({ type: 'text.delta', messageId: 'm', text })
const end: Event = { type: 'turn.completed', turn: 1, outcome: 'completed', durationMs: 0, denials: 0 }

function streamed(mask: Mask, pieces: readonly string[]): string[] {
  const logged: string[] = []
  for (const event of [...pieces.map(delta), end])
    mask.pass(event, (safe) => logged.push(safe.type === 'text.delta' ? safe.text : ''))
  return logged
}

describe('masking', () => {
  test('of a whole text equals the naive masker', () => {
    fc.assert(
      fc.property(secretsAndText, ([secrets, text]) => {
        expect(new Mask({ own: secrets }).text(text)).toBe(naive(text, secrets))
        expect(new Mask({ lent: secrets }).text(text)).toBe(naive(text, secrets))
      }),
      { numRuns: runs(200, 3_000) },
    )
  })

  test('of increments with own secrets equals the naive masker, for any cut', () => {
    fc.assert(
      fc.property(secretsAndText, ([secrets, text, places]) => {
        expect(streamed(new Mask({ own: secrets }), cut(text, places)).join('')).toBe(naive(text, secrets))
      }),
      { numRuns: runs(200, 3_000) },
    )
  })

  test('of a blob equals the naive masker, for any cut', async () => {
    await fc.assert(
      fc.asyncProperty(secretsAndText, async ([secrets, text, places]) => {
        const store = memoryStore()
        const writer = maskedBlob(store.blobs.open(), new Mask({ lent: secrets }))
        for (const piece of cut(text, places)) writer.write(new TextEncoder().encode(piece))
        const kept = await blobBytes(store.readBlob(await writer.close()))
        expect(new TextDecoder().decode(kept)).toBe(naive(text, secrets))
      }),
      { numRuns: runs(100, 1_000) },
    )
  })

  test('of increments never delays a text because of a secret that the principal does not own', () => {
    fc.assert(
      fc.property(secretsAndText, ([secrets, text, places]) => {
        const mask = new Mask({ lent: secrets })
        const pieces = cut(text, places)
        for (const [index, piece] of pieces.entries()) {
          const logged: string[] = []
          mask.pass(delta(piece), (safe) => logged.push(safe.type === 'text.delta' ? safe.text : ''))
          expect([index, logged.length]).toEqual([index, 1])
          // Only a complete occurrence, which ends in this piece, changes it.
          const before = pieces.slice(0, index).join('')
          const isChanged = secrets.some((secret) =>
            [...piece].some((_, at) => (before + piece.slice(0, at + 1)).endsWith(secret)),
          )
          if (!isChanged) expect(logged).toEqual([piece])
        }
      }),
      { numRuns: runs(150, 2_000) },
    )
  })

  test('of increments marks the rest of a lent secret whose beginning was already sent', () => {
    const mask = new Mask({ lent: ['sk-0123456789'] })
    expect(streamed(mask, ['key sk-01', '23456', '789 end'])).toEqual([
      'key sk-01',
      '23456',
      '[masked 13] end',
      '',
    ])
  })

  test('takes time linear in the text, also where every place almost begins a secret', () => {
    const secrets = Array.from({ length: 20 }, (_, index) => `${'a'.repeat(200)}${index}-secret`)
    const mask = new Mask({ own: secrets })
    let steps = 0
    const text = 'a'.repeat(1_000_000)
    const stored = {
      write: () => void steps++,
      close: async () => ({ id: '', bytes: 0 }),
      discard: () => undefined,
    }
    const writer = maskedBlob(stored, mask)
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += 1_000) writer.write(bytes.subarray(at, at + 1_000))
    expect(steps).toBeLessThanOrEqual(1_000)
    expect(mask.text(text)).toBe(text)
  })
})
