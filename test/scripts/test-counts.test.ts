import { expect, it } from 'vitest'
import { countTests } from '../../scripts/test-counts.ts'

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((test) => ({ status: test })),
})

it('passed and failed tests are counted over all files', () => {
  const testResults = [file('passed', 'passed', 'passed'), file('failed', 'passed', 'failed', 'failed')]
  expect(countTests({ testResults })).toEqual({ passed: 3, failed: 2 })
})

it('a file that does not load counts as a failure', () => {
  const testResults = [file('passed', 'passed'), file('failed')]
  expect(countTests({ testResults })).toEqual({ passed: 1, failed: 1 })
})

it('a test that was not run counts as neither', () => {
  expect(countTests({ testResults: [file('passed', 'passed', 'skipped')] })).toEqual({
    passed: 1,
    failed: 0,
  })
})
