import { expect, it } from 'vitest'
import { SCRIPTS } from '../../conformance/scripts.ts'
import { SCENARIOS } from '../../src/testing/index.ts'

it('no script replaces a predefined scenario of the same name', () => {
  expect(Object.keys(SCRIPTS).filter((name) => name in SCENARIOS)).toEqual([])
})
