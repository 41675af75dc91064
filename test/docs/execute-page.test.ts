import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OutputEvent } from '../../src/dialects/execute.ts'

const page = readFileSync('docs/compatibility/execute.md', 'utf8')
const stream = page.split('## The stream\n')[1]?.split('\n## ')[0] ?? ''

const wordsIn = (cell: string | undefined) =>
  [...(cell ?? '').matchAll(/`(\w+)\??`/g)].map(([, word]) => word)

/** Kind, fields and meaning of each message. */
const rows = stream
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split(' | '))

const fieldsOf = ({ shape }: (typeof OutputEvent.options)[number]) =>
  Object.keys(shape).filter((field) => field !== 'kind')

test('the page on execute has every kind of message with all its fields', () => {
  const printed = rows.map(([kind, fields]) => [wordsIn(kind)[0], wordsIn(fields).toSorted()])
  const sent = OutputEvent.options.map((option) => [option.shape.kind.value, fieldsOf(option).toSorted()])
  expect(Object.fromEntries(printed)).toEqual(Object.fromEntries(sent))
})

test('the page on execute names every code of a notice', () => {
  const codes = OutputEvent.options.flatMap(({ shape }) =>
    shape.kind.value === 'notice' ? codesOf(shape) : [],
  )
  const [, , meaning] = rows.find(([kind]) => kind?.includes('`notice`')) ?? []
  expect(codes).not.toEqual([])
  expect(codes.filter((code) => !wordsIn(meaning).includes(code))).toEqual([])
})

function codesOf(shape: object): readonly string[] {
  const code: unknown = Reflect.get(shape, 'code')
  const options: unknown = typeof code === 'object' && code !== null ? Reflect.get(code, 'options') : []
  return Array.isArray(options) ? options.map(String) : []
}
