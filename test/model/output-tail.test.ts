import { describe, expect, test } from 'vitest'
import { OutputTail } from '../../src/model/outcome/output-tail.ts'

function tailOf(...lines: string[]): string {
  const tail = new OutputTail()
  for (const line of lines) tail.add(line)
  return tail.text
}

describe('the tail of an output', () => {
  test('keeps the last twenty lines', () => {
    const lines = Array.from({ length: 25 }, (_, index) => `line ${index}`)
    expect(tailOf(...lines)).toBe(lines.slice(5).join('\n'))
  })

  test('has no escape sequences, no control characters and no empty lines', () => {
    expect(
      tailOf('\u001b[91mError:\u001b[0m \u001b]0;title\u0007bad\u0000 key\u009b', '', ' \r', '\tat x'),
    ).toBe('Error: bad key\n\tat x')
  })

  test('cuts a long line between words, so that no part of a secret is left unmasked', () => {
    const secret = 's'.repeat(40)
    const line = `${'word '.repeat(97)}${secret} end`
    const text = tailOf(line)
    expect(text).toBe(`${'word '.repeat(97)}[${line.length - 484} more characters]`)
    expect(tailOf('x'.repeat(501))).toBe('[501 more characters]')
  })
})
