import { expect, test } from 'vitest'
import { NDJSON, SSE, verbatim } from '../../../src/gateway/streams/format.ts'

const texts = (count: number, text: string) => Array.from({ length: count }, () => JSON.stringify({ text }))
const joined = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString()

test('entries as they are kept have their ids, and nothing that splits a line', () => {
  const [text = ''] = texts(1, 'a\u2028b\u2029\u{1F680}é')
  const escaped = text.replace('\u2028', '\\u2028').replace('\u2029', '\\u2029')
  const sent = joined([...verbatim(SSE, 41, [text, '{}'])])
  expect(sent).toBe(`id: 41\ndata: ${escaped}\n\nid: 42\ndata: {}\n\n`)
  expect(joined([...verbatim(NDJSON, 41, [text, '{}'])])).toBe(`${escaped}\n{}\n`)
})

test('text that was formatted for one reader is sent to the next, also while the first is still reading', () => {
  const list = texts(500, 'x'.repeat(1000))
  const slow = verbatim(SSE, 1, list)
  const first = slow.next().value
  const quick = [...verbatim(SSE, 1, list)]
  expect(quick.length).toBeGreaterThan(5)
  expect(quick[0]).toBe(first)
  const rest = [...slow]
  expect(rest.every((piece, index) => piece === quick[index + 1])).toBe(true)
  expect(rest).toHaveLength(quick.length - 1)
  expect(joined(quick)).toBe(list.map((text, index) => `id: ${index + 1}\ndata: ${text}\n\n`).join(''))
})

test('a reader of another format in between changes nothing for those who are reading', () => {
  const list = texts(300, 'x'.repeat(1000))
  const slow = verbatim(SSE, 1, list)
  const first = slow.next().value
  const lines = joined([...verbatim(NDJSON, 1, list)])
  expect(lines).toBe(list.map((text) => `${text}\n`).join(''))
  expect(joined([...(first ? [first] : []), ...slow])).toBe(joined([...verbatim(SSE, 1, list)]))
})
