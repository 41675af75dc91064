import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Frame } from '../../src/framing/frame.ts'
import { LargeFrame } from '../../src/framing/large-frame.ts'
import { Mask } from '../../src/mask/mask.ts'
import { maskedBlob } from '../../src/mask/masked-blobs.ts'
import { type BlobRef, blobReference } from '../../src/model/blob.ts'
import { valueSink } from '../../src/sessions/machine/value-sink.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { blobBytes } from '../stores/blob-bytes.ts'

const LIMIT = 1_600
const encoder = new TextEncoder()

async function read(text: string, sizes: readonly number[] = [1_000_000], mask = new Mask({})) {
  const store = memoryStore()
  const frame = new LargeFrame(
    'stdout',
    valueSink({
      blobs: store.blobs,
      newHash: () => createHash('sha256'),
      mask: (writer) => maskedBlob(writer, mask),
    }),
    LIMIT,
  )
  const bytes = encoder.encode(text)
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    frame.write(bytes.subarray(at, at + size))
    at += size
  }
  const closed = await frame.close()
  const texts = await Promise.all(
    (closed.large ?? []).map(async ({ blob }) =>
      new TextDecoder().decode(await blobBytes(store.readBlob(blob))),
    ),
  )
  return { frame: closed, texts }
}

/** The value with every reference replaced by what it refers to. */
function restored({ value, large = [] }: Frame, texts: readonly string[]): unknown {
  return JSON.parse(JSON.stringify(value), (_, leaf: unknown) => {
    const at = large.findIndex(({ text }) => text === leaf)
    return at < 0 ? leaf : texts[at]
  })
}

const smallText = fc.string({ maxLength: 60 })
const largeText = fc
  .array(fc.constantFrom('a', '"', '\\', '\n', '\t', 'é', '𝄞', '\u2028', '/'), {
    minLength: 101,
    maxLength: 3_000,
  })
  .map((letters) => letters.join(''))
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    smallText,
    largeText,
    fc.integer(),
    fc.constant(null),
    tie('list'),
    tie('fields'),
  ),
  list: fc.array(tie('any'), { maxLength: 3 }),
  fields: fc.dictionary(fc.string({ maxLength: 10 }), tie('any'), { maxKeys: 3 }),
})).fields

/** As `JSON.stringify` writes it, or with every character outside ASCII escaped, as Python does. */
const textOf = (one: unknown, isAscii: boolean) => {
  const json = JSON.stringify(one)
  return isAscii
    ? json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : json
}
const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 })

describe('a frame over the size limit', () => {
  test('has its structure, and refers to every large string, however it was chunked', async () => {
    await fc.assert(
      fc.asyncProperty(value, fc.boolean(), sizes, async (one, isAscii, chunks) => {
        const { frame, texts } = await read(textOf(one, isAscii), chunks)
        if (frame.text.length > 0) expect(restored(frame, texts)).toEqual(JSON.parse(JSON.stringify(one)))
        const again = await read(textOf(one, isAscii))
        expect([again.frame.text, again.texts]).toEqual([frame.text, texts])
      }),
    )
  })

  test('keeps type and status when a list of many small values exceeds the limit', async () => {
    const one = { type: 'user', list: Array.from({ length: 2_000 }, (_, n) => n), status: 'ok' }
    const { frame, texts } = await read(JSON.stringify(one), [7])
    const [whole] = frame.large ?? []
    expect(frame.value).toEqual({ type: 'user', list: whole && blobReference(whole.blob), status: 'ok' })
    expect(texts).toEqual([JSON.stringify(one)])
    expect(frame.blob).toBeUndefined()
  })

  test.each([
    ['plain text', 'x'.repeat(5_000)],
    ['a cut string', `{"type":"result","result":"${'x'.repeat(5_000)}`],
    ['an invalid escape', `{"a":"${'x'.repeat(5_000)}\\q"}`],
    ['a long name', `{"${'x'.repeat(5_000)}":1}`],
    ['many fields', JSON.stringify(Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`f${n}`, n])))],
    ['deep nesting', '['.repeat(2_000)],
  ])('with %s becomes a blob as a whole', async (_, text) => {
    const { frame } = await read(text, [64])
    expect(frame).toEqual({
      stream: 'stdout',
      text: '',
      blob: { id: expect.any(String), bytes: text.length },
    })
  })

  test.each([
    ['a missing colon', `{"type" "${'x'.repeat(5_000)}","b":1}`],
    ['a second value', `{"a":"${'x'.repeat(5_000)}" 1}`],
    ['a missing colon and too many numbers', `{"a":"${'x'.repeat(5_000)}","n":[${'1,'.repeat(2_000)}1] "b"}`],
  ])('with %s leaves no blob but that of the whole', async (_, text) => {
    const store = memoryStore()
    const kept: BlobRef[] = []
    const open = () => {
      const writer = store.blobs.open()
      const close = async () => {
        const blob = await writer.close()
        kept.push(blob)
        return blob
      }
      return { write: writer.write.bind(writer), close, discard: writer.discard.bind(writer) }
    }
    const values = valueSink({ blobs: { open }, newHash: () => createHash('sha256') })
    const frame = new LargeFrame('stdout', values, LIMIT)
    frame.write(encoder.encode(text))
    const { blob } = await frame.close()
    expect(blob?.bytes).toBe(text.length)
    expect(kept).toEqual([blob])
  })

  test('has no secret in a blob, or in the part that is shown, wherever it was chunked', async () => {
    const secret = 'secret-key-of-the-server'
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 2_000 }), sizes, async (before, chunks) => {
        const one = { output: `${'x'.repeat(before)}${secret}${'y'.repeat(2_000)}` }
        const { frame, texts } = await read(JSON.stringify(one), chunks, new Mask({ own: [secret] }))
        expect(texts).toEqual([`${'x'.repeat(before)}[masked ${secret.length}]${'y'.repeat(2_000)}`])
        expect(frame.text).not.toContain('secret')
      }),
    )
  })

  test('gives equal values equal digests', async () => {
    const text = JSON.stringify({ input: 'x'.repeat(3_000) })
    const [one, other] = [await read(text, [100]), await read(text, [999])]
    const [different] = (await read(text.replace('x"', 'y"'))).frame.large ?? []
    expect(one.frame.large?.[0]?.digest).toBe(other.frame.large?.[0]?.digest)
    expect(one.frame.large?.[0]?.digest).not.toBe(different?.digest)
  })
})
