import { expect } from 'vitest'
import type { Parser } from '../../src/framing/parser.ts'

/** What comes of reading: the value as it would be written again, or that it is no JSON. */
function outcome(parse: () => unknown) {
  try {
    return { value: JSON.stringify(parse()) }
  } catch (thrown) {
    return { thrown: thrown instanceof SyntaxError }
  }
}

export function expectSame(parser: Parser, line: string): void {
  expect(outcome(() => parser.parse(line))).toEqual(outcome(() => JSON.parse(line)))
}
