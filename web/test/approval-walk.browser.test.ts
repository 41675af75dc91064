import { expect, test } from 'vitest'
import { runs } from '../../test/long.ts'
import { walkAll } from './approval-walk.ts'
import { theatre } from './page.ts'

/** `APPROVAL_WALKS=200 npx vitest run web/test/approval-walk.browser.test.ts` runs the long version. */
const WALKS = Number(process.env.APPROVAL_WALKS ?? runs(1, 20))
/** Other walks in each run of the tests. */
const FIRST_SEED = Number(process.env.APPROVAL_SEED ?? Number(process.env.MAINSTEM_TEST_SEED) % 1000)
/** Pages that walk at the same time. */
const PAGES = 3

const { stage, open } = theatre()

test('in random walks over keys, clicks and scrolls, every approval was meant', {
  timeout: 3_600_000,
}, async () => {
  const seeds = Array.from({ length: WALKS }, (_, index) => FIRST_SEED + index)
  const { allowed, unintended } = await walkAll({ stage, open }, seeds, PAGES)
  console.log(
    `${WALKS} walks from seed ${FIRST_SEED}: ${allowed} approvals, ${WALKS} of them on purpose, ${unintended.length} unintended`,
  )
  expect(unintended).toEqual([])
})
