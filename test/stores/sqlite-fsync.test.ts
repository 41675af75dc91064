import { expect, test } from 'vitest'
import { countSyncs, hasStrace } from '../../faults/fsync/count-syncs.ts'

const COMMITS = 10

test('every acknowledged commit has its own fsync', async ({ skip }) => {
  // Only strace sees what reaches the kernel.
  if (!(await hasStrace())) skip('strace is not installed, or not allowed to trace here')
  expect(await countSyncs('power', COMMITS)).toBeGreaterThanOrEqual(COMMITS)
  // The weaker promise needs none, so the count above is not there by chance.
  expect(await countSyncs('process', COMMITS)).toBeLessThan(COMMITS)
})
