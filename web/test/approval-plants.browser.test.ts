import { describe, expect, test } from 'vitest'
import { someOf } from '../../test/long.ts'
import { type JudgedApproval, ORACLE } from './approval-oracle.ts'
import { PLANTED } from './approval-plants.ts'
import { walkAll } from './approval-walk.ts'
import { theatre } from './page.ts'

/** Walks after which a fault counts as unnoticed. */
const WALKS = 200
const PAGES = 3

describe.each(someOf(PLANTED, 1))('if $name', ({ plants, noticed, act }) => {
  const { stage, open, signedIn } = theatre(plants)

  test('the judge of the walks notices it', { timeout: 600_000 }, async () => {
    if (act) {
      const { page } = await signedIn()
      await page.addInitScript(ORACLE)
      await page.reload()
      await act(page, stage)
      const judged: JudgedApproval[] = await page.evaluate('approvals')
      expect(judged.flatMap(({ faults }) => faults).join()).toMatch(noticed)
      return
    }
    const seeds = Array.from({ length: WALKS }, (_, index) => 1 + index)
    const isFound = ({ unintended }: { unintended: string[] }) => unintended.some((one) => noticed.test(one))
    const total = await walkAll({ stage, open }, seeds, PAGES, isFound)
    console.log(`${WALKS - seeds.length} walks: ${total.unintended.join('; ')}`)
    expect(isFound(total)).toBe(true)
  })
})
