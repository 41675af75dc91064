import fc from 'fast-check'
import { expect, test } from 'vitest'
import { piecesOf } from '../src/text/output-lines.ts'
import { newPen, spansOf } from '../src/text/terminal-spans.ts'

const spans = (text: string) => spansOf(text, newPen()).map(({ text, classes }) => [text, classes])

test('colours, bold and underline last until they are reset', () => {
  expect(spans('a\u001b[31mb\u001b[1mc\u001b[22;39md\u001b[4;94me\u001b[mf')).toEqual([
    ['a', ''],
    ['b', 'ansi-red-fg'],
    ['c', 'ansi-red-fg ansi-bold'],
    ['d', ''],
    ['e', 'ansi-bright-blue-fg ansi-underline'],
    ['f', ''],
  ])
})

test('a colour that a line begins goes on in the next one', () => {
  const pen = newPen()
  spansOf('\u001b[32mone', pen)
  expect(spansOf('two', pen)).toEqual([{ text: 'two', classes: 'ansi-green-fg' }])
})

test('of 256 colours those of the theme are used, and the parameters of others are no codes of their own', () => {
  expect(spans('\u001b[38;5;9ma\u001b[38;5;196mb\u001b[38;2;1;31;4mc\u001b[31;48;5;4md')).toEqual([
    ['a', 'ansi-bright-red-fg'],
    ['b', ''],
    ['c', ''],
    ['d', 'ansi-red-fg'],
  ])
})

test('a link and other sequences leave their text alone', () => {
  expect(spans('\u001b]8;;https://x.example\u0007here\u001b]8;;\u0007 \u001b[2Kthere')).toEqual([
    ['here', ''],
    [' ', ''],
    ['there', ''],
  ])
})

test('no text is lost, whatever stands between its sequences', () => {
  const plain = fc.string().map((text) => text.replaceAll('\u001b', ''))
  fc.assert(
    fc.property(fc.array(fc.tuple(plain, fc.nat(120))), (parts) => {
      const text = parts.map(([part, code]) => `${part}\u001b[${code}m`).join('')
      expect(
        spansOf(text, newPen())
          .map((span) => span.text)
          .join(''),
      ).toBe(parts.map(([part]) => part).join(''))
    }),
  )
})

test('a carriage return starts its line again, also before a line break', () => {
  expect(piecesOf('10%\r20%\r\ndone\r\r\n').map(({ text }) => text)).toEqual(['20%', 'done'])
})
