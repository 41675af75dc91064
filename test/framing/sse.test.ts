import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeSse, type SseFields, type SseMessage, SseParser } from '../../src/framing/sse.ts'
import { anyText, cutAt, cuts } from './arbitraries.ts'

function parse(chunks: readonly string[]): SseMessage[] {
  const parser = new SseParser()
  const messages = chunks.flatMap((chunk) => parser.push(chunk))
  parser.end()
  return messages
}

describe('reading an event stream', () => {
  test.each<[name: string, input: string, messages: SseMessage[]]>([
    ['data alone is a message', 'data: a\n\n', [{ data: 'a' }]],
    ['CR, LF and CRLF end lines', 'data: a\rdata: b\ndata: c\r\n\r\n', [{ data: 'a\nb\nc' }]],
    ['a CRLF is one newline', 'data: a\r\ndata: b\r\n\r\n', [{ data: 'a\nb' }]],
    ['CR alone ends an event', 'data: a\r\rdata: b\r\r', [{ data: 'a' }, { data: 'b' }]],
    ['a BOM at the start is dropped', '\uFEFFdata: a\n\n', [{ data: 'a' }]],
    ['a second BOM is part of a field name', '\uFEFF\uFEFFdata: a\n\n', []],
    ['one space after the colon is dropped', 'data:  a\n\ndata:b\n\n', [{ data: ' a' }, { data: 'b' }]],
    ['comments are skipped', ': ping\n\n:data: a\n\ndata: b\n:\n\n', [{ data: 'b' }]],
    ['a field without a colon is empty', 'data\n\ndata\ndata\n\n', [{ data: '' }, { data: '\n' }]],
    ['unknown fields are skipped', 'foo: bar\nDATA: a\n data: b\ndata: c\n\n', [{ data: 'c' }]],
    ['only the first colon separates', 'data: a: b\n\n', [{ data: 'a: b' }]],
    ['U+2028, U+2029 and NUL are data', 'data: a\u2028b\u2029c\0\n\n', [{ data: 'a\u2028b\u2029c\0' }]],
    [
      'a type holds for one event',
      'event: x\ndata: a\n\ndata: b\n\n',
      [{ event: 'x', data: 'a' }, { data: 'b' }],
    ],
    ['a type without data is forgotten', 'event: x\n\ndata: b\n\n', [{ data: 'b' }]],
    ['an empty type is none', 'event: x\nevent:\ndata: a\n\n', [{ data: 'a' }]],
    [
      'an id holds until the next',
      'id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n',
      [
        { id: '1', data: 'a' },
        { id: '1', data: 'b' },
        { id: '2', data: 'c' },
      ],
    ],
    ['an id needs no data', 'id: 1\n\ndata: a\n\n', [{ id: '1', data: 'a' }]],
    ['an empty id resets it', 'id: 1\ndata: a\n\nid\ndata: b\n\n', [{ id: '1', data: 'a' }, { data: 'b' }]],
    ['an id with NUL is skipped', 'id: 1\nid: 2\0\ndata: a\n\n', [{ id: '1', data: 'a' }]],
    ['an unfinished event is dropped', 'data: a\n\ndata: b\n', [{ data: 'a' }]],
    ['an unfinished line is dropped', 'data: a\n\ndata: b', [{ data: 'a' }]],
  ])('%s, cut anywhere', (_name, input, messages) => {
    expect(parse([input])).toEqual(messages)
    expect(parse([...input])).toEqual(messages)
    for (const cut of input.split('').keys()) expect(parse(cutAt(input, [cut]))).toEqual(messages)
  })

  test('a message is emitted at its blank line without waiting for more', () => {
    const parser = new SseParser()
    expect(parser.push('data: a\r')).toEqual([])
    expect(parser.push('\n\r')).toEqual([{ data: 'a' }])
    expect(parser.push('\ndata: b\n\n')).toEqual([{ data: 'b' }])
  })

  test('an incomplete event does not change the resume position', () => {
    const parser = new SseParser()
    expect(parser.lastId).toBeUndefined()
    parser.push('id: 6\ndata: a\n\nid: 7\ndata: b\n')
    expect(parser.lastId).toBe('6')
    parser.end()
    expect(parser.push('\n')).toEqual([])
    expect(parser.lastId).toBe('6')
  })

  test('the next connection starts fresh, with the last id', () => {
    const parser = new SseParser()
    parser.push('id: 6\ndata: a\n\nid: 7\nevent: x\ndata: b\ndat')
    parser.end()
    expect(parser.push('\uFEFFdata: c\n\n')).toEqual([{ id: '6', data: 'c' }])
  })

  test.each([
    ['retry: 3000\n\n', 3000],
    ['retry: 3000\nretry: 5s\nretry: -1\nretry:\nretry: 1.5\n\n', 3000],
    [`retry: ${'9'.repeat(400)}\n\n`, undefined],
    ['retry: soon\n\n', undefined],
  ])('%j sets a retry delay of %s ms, with or without a message', (input, retry) => {
    const parser = new SseParser()
    expect(parser.push(input)).toEqual([])
    expect(parser.retry).toBe(retry)
  })

  test('any text is read, and chunking does not matter', () => {
    const piece = fc.constantFrom(
      'data',
      'data: x\r\n',
      'id: 7\n',
      'event: y\r',
      'retry',
      ':',
      ' ',
      '\r',
      '\n',
      '\0',
    )
    const text = fc.array(fc.oneof(piece, anyText), { maxLength: 60 })
    fc.assert(
      fc.property(text, cuts, (parts, places) => {
        const whole = parts.join('')
        expect(parse(cutAt(whole, places))).toEqual(parse([whole]))
      }),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['a line that never ends', ['data: a\n\n', 'data: ', 'x'.repeat(40)]],
    ['data that never ends', ['data: a\n\n', ...Array.from({ length: 20 }, () => 'data: x\n')]],
    ['a message that is too long at once', [`data: a\n\ndata: ${'x'.repeat(40)}\n\ndata: b\n\n`]],
  ])('%s is refused, after the messages before it', (_name, chunks) => {
    const parser = new SseParser(32)
    const messages: SseMessage[] = []
    const read = () => {
      for (const chunk of chunks) messages.push(...parser.push(chunk))
      parser.end()
    }
    expect(read).toThrow(expect.objectContaining({ code: 'protocol_error' }))
    expect(messages).toEqual([{ data: 'a' }])
  })
})

describe('writing an event stream', () => {
  test.each<[name: string, fields: SseFields, text: string]>([
    ['data alone', { data: '{"a":1}' }, 'data: {"a":1}\n\n'],
    ['every field', { id: '7', event: 'x', data: 'a', retry: 5 }, 'event: x\nid: 7\nretry: 5\ndata: a\n\n'],
    [
      'every newline is a line of its own',
      { data: 'a\nb\r\nc\rd' },
      'data: a\ndata: b\ndata: c\ndata: d\n\n',
    ],
    ['empty data is data', { data: '' }, 'data: \n\n'],
    ['a comment alone', { comment: 'ping' }, ': ping\n\n'],
    ['a comment cannot smuggle a field', { comment: 'a\ndata: b' }, ': a\n: data: b\n\n'],
  ])('%s', (_name, fields, text) => {
    expect(encodeSse(fields)).toBe(text)
  })

  test.each<SseFields>([
    { id: '1\n2', data: '' },
    { id: '1\r2', data: '' },
    { id: '1\0', data: '' },
    { event: 'a\ndata: b', data: '' },
    { retry: 1.5, data: '' },
    { retry: -1, data: '' },
    { retry: Number.POSITIVE_INFINITY, data: '' },
  ])('%j is refused', (fields) => {
    expect(() => encodeSse(fields)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  test('written messages are read back unchanged, except for the kind of newline', () => {
    const text = fc.oneof(anyText, fc.string({ unit: fc.constantFrom('\r', '\n', ' ', ':', 'a') }))
    const field = anyText.map((value) => `x${value.replaceAll(/[\r\n\0]/g, '')}`)
    const message = fc.record(
      { id: field, event: field, data: text, comment: text },
      { requiredKeys: ['id', 'data'] },
    )
    fc.assert(
      fc.property(fc.array(message), cuts, (messages, places) => {
        const stream = messages.map((each) => encodeSse(each)).join('')
        const expected = messages.map(({ id, event, data }) => ({
          id,
          ...(event !== undefined && { event }),
          data: data.replaceAll(/\r\n?/g, '\n'),
        }))
        expect(parse(cutAt(stream, places))).toEqual(expected)
      }),
      { numRuns: 1000 },
    )
  })
})
