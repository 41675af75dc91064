import type { Page } from 'playwright-core'
import { script } from '../../test/gateway/puppet.ts'
import { opened } from './approval-requests.ts'
import { askFor } from './approval-walk.ts'
import type { Plant } from './built-page.ts'
import type { Stage } from './stage.ts'

interface PlantedFault {
  name: string
  plants: Plant[]
  /** How the judge of the walks names the approvals that follow. */
  noticed: RegExp
  /** What a person does, where a random walk would seldom come to it. */
  act?: (page: Page, stage: Stage) => Promise<void>
}

const GATE = 'src/session/answer-gate.ts'
const BATCH = 'src/session/batch-buttons.tsx'
const SELECT = 'src/session/guarded-select.tsx'

/** A session with two short requests, both unfolded and ready. */
async function reviewed(page: Page, stage: Stage): Promise<string> {
  const prompt = script(askFor('r1', 0), askFor('r2', 0))
  const { id } = await stage.client.begin({ agent: 'able', prompt })
  await opened(stage.client, id, 2)
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByRole('button', { name: 'Review all' }).click()
  await page.locator('[data-request=r2]').scrollIntoViewIfNeeded()
  for (const name of ['r1', 'r2'])
    await page.locator(`[data-request=${name}][data-readiness=ready]`).waitFor()
  return id
}

const judged = (page: Page, count: number) =>
  page.waitForFunction(`approvals.length >= ${count}`).then(() => undefined)

/** Allows the batch when a third request has arrived. */
async function allowBatch(page: Page, stage: Stage): Promise<void> {
  const id = await reviewed(page, stage)
  await stage.client.steer(id, JSON.stringify(askFor('late', 700).say))
  await page.locator('[data-request=late]').waitFor({ state: 'attached' })
  const button = page.getByRole('button', { name: 'Allow 2 once' })
  await button.and(page.locator('[aria-disabled=false]')).click()
  await judged(page, 3)
}

/** Presses the key for the second card. */
async function allowSecond(page: Page, stage: Stage): Promise<void> {
  await reviewed(page, stage)
  await page.locator('[data-request=r2] header').click()
  await page.locator('[data-request=r2][data-readiness=ready][aria-current=true]').waitFor()
  await page.evaluate('new Promise((done) => setTimeout(done, 700))')
  await page.keyboard.press('a')
  await judged(page, 2)
}

/** Presses a key while the list of permissions has the focus. */
async function pressInList(page: Page, stage: Stage): Promise<void> {
  await reviewed(page, stage)
  await page.getByLabel('Permissions of this session').focus()
  await page.keyboard.press('End')
  await judged(page, 1)
}

/** Pages that approve by accident, each in another way. */
export const PLANTED: readonly PlantedFault[] = [
  {
    name: 'a card is answered as soon as it is there',
    plants: [{ file: GATE, from: 'const SETTLE_MS = 400', to: 'const SETTLE_MS = 0' }],
    noticed: /moved \d+ ms before/,
  },
  {
    name: 'the end of an input need not be shown',
    plants: [{ file: GATE, from: 'standing.end ||= ends.end', to: 'standing.end ||= true || ends.end' }],
    noticed: /not shown whole/,
  },
  {
    name: 'a batch takes requests that arrived after the review',
    plants: [{ file: BATCH, from: "answer(batch, 'allow')", to: "answer(permissions, 'allow')" }],
    noticed: /not shown whole/,
    act: allowBatch,
  },
  {
    name: 'a key answers a card that is not selected',
    plants: [{ file: GATE, from: 'this.#ring.measured === id &&', to: 'id !== undefined &&' }],
    noticed: /not selected/,
    act: allowSecond,
  },
  {
    name: 'a list of permissions is changed by a letter',
    plants: [{ file: SELECT, from: 'if (isStricter(next.value))', to: 'if (isStricter)' }],
    noticed: /permissions changed by keydown/,
    act: pressInList,
  },
]
