/** Prints the counts of a test run from the JSON report of vitest. */
import { readFileSync } from 'node:fs'

export interface Report {
  testResults: readonly {
    status: string
    assertionResults: readonly { status: string }[]
  }[]
}

/** A file that failed without a failing test of its own (it did not load) counts as one. */
export function countTests({ testResults }: Report): { passed: number; failed: number } {
  const statuses = testResults.flatMap(({ status, assertionResults }) => {
    const each = assertionResults.map((test) => test.status)
    return status === 'failed' && !each.includes('failed') ? [...each, 'failed'] : each
  })
  const count = (wanted: string) => statuses.filter((status) => status === wanted).length
  return { passed: count('passed'), failed: count('failed') }
}

if (import.meta.main) {
  const [path = ''] = process.argv.slice(2)
  const report: Report = JSON.parse(readFileSync(path, 'utf8'))
  const { passed, failed } = countTests(report)
  console.log(`${passed} passed, ${failed} failed`)
}
