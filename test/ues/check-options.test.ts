import { expect, test } from 'vitest'
import { echo } from '../../src/ues/index.ts'
import { only, run, types } from './scene.ts'

test.each([
  ['maxturns', 'maxturns: unknown field; did you mean "maxTurns"?'],
  ['max_budget_usd', 'max_budget_usd: unknown field; did you mean "maxBudgetUsd"?'],
  ['permisionTier', 'permisionTier: unknown field; did you mean "permissionTier"?'],
  ['colour', expect.stringMatching(/^colour: unknown field; known fields: cwd, model, /)],
])('an unknown option (%s) is refused with the name that was meant', async (option, message) => {
  const events = await run(echo(), 'hello', { [option]: 1 })
  expect(types(events)).toEqual(['init', 'error', 'done'])
  expect(only(events, 'error')[0]?.payload).toEqual({
    code: 'invalid_request',
    message,
    recoverable: false,
  })
})

test('an option that is undefined is absent', async () => {
  expect(types(await run(echo(), 'hello', Object.fromEntries([['maxturns', undefined]])))).toContain('text')
})
