import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { faultsOf, theatre } from './page.ts'

const { stage, signedIn } = theatre()

async function openDemo(page: Page, id: string): Promise<void> {
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByRole('article', { name: /^Permission/ }).waitFor()
}

const beginDemo = () =>
  stage.client.begin({ agent: 'demo', prompt: 'The product list skips its first page.' })

test('a session lives from its start to its outcome, with an approval and a question', async () => {
  const watched = await signedIn()
  const { page } = watched
  await page.getByRole('button', { name: 'Start the demo' }).click()
  const permission = page.getByRole('article', { name: /^Permission/ })
  await permission.getByText('(page - 1) * size').waitFor()
  await permission.getByRole('button', { name: 'Allow once' }).click()
  const question = page.getByRole('article', { name: /^Question/ })
  await question.getByRole('radio', { name: /Fix it too/ }).check()
  await question.getByRole('button', { name: 'Answer', exact: true }).click()
  await permission.getByRole('button', { name: 'Allow for session' }).click()
  await page.getByText('All 14 tests pass.').waitFor()
  await page.getByText('turn 1', { exact: true }).waitFor()
  const [record] = (await stage.client.sessions()).sessions
  expect(record?.lastOutcome).toBe('completed')
  expect(Number(await page.locator('[data-last-seq]').getAttribute('data-last-seq'))).toBe(record?.head)
  await page.getByRole('link', { name: 'Changes' }).click()
  await page
    .getByRole('region', { name: 'Diff of src/paginate.ts' })
    .getByText('const start = (page - 1) * size')
    .waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

test('if two pages answer one request, the first wins and the other is informed', async () => {
  const { id } = await beginDemo()
  const [one, two] = await Promise.all([signedIn(), signedIn()])
  await Promise.all([openDemo(one.page, id), openDemo(two.page, id)])
  const held = Promise.withResolvers<void>()
  await two.page.route('**/requests/**', async (route) => {
    await held.promise
    await route.continue()
  })
  const sent = two.page.waitForRequest('**/requests/**')
  await two.page.getByRole('button', { name: 'Deny…' }).click()
  await two.page.getByLabel('Reason for the agent').fill('not this file')
  await two.page.getByRole('button', { name: 'Deny', exact: true }).click()
  await sent
  await one.page.getByRole('button', { name: 'Allow once' }).click()
  await one.page.getByText('Allowed by local (page):').waitFor()
  held.resolve()
  await two.page.getByText('Too late: it was already allowed.').waitFor()
  await two.page.getByText('Allowed by local (page):').waitFor()
  const { entries = [] } = await stage.client.page(id, { types: ['request.resolved'] })
  expect(entries.filter(({ event }) => event.type === 'request.resolved')).toHaveLength(1)
  expect([...(await faultsOf(one)), ...(await faultsOf(two))]).toEqual([])
})

test('the keyboard alone starts, approves, denies, queues and stops', async () => {
  const watched = await signedIn()
  const { page } = watched
  await page.keyboard.press('n')
  await page.getByRole('heading', { name: 'New session' }).waitFor()
  await page.getByRole('combobox', { name: /^Agent/ }).selectOption('demo')
  await page.getByLabel('Prompt').focus()
  await page.keyboard.type('Fix the list')
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Start session' }).focus()
  await page.keyboard.press('Enter')
  const permission = page.getByRole('article', { name: /^Permission/ })
  await permission.waitFor()
  await page.locator('[data-readiness=ready][aria-current=true]').waitFor()
  await page.keyboard.press('a')
  await expect.poll(() => permission.count()).toBe(0)
  await page.getByRole('article', { name: /^Question/ }).waitFor()
  await page.locator('[data-readiness=ready][aria-current=true]').waitFor()
  await page.keyboard.press('2')
  await expect.poll(() => page.getByRole('radio', { name: /Only report it/ }).isChecked()).toBe(true)
  await page.keyboard.press('i')
  await page.keyboard.type('And then the footer')
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Queue' }).getByText('And then the footer').waitFor()
  await page.getByRole('button', { name: 'Stop' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('The turn was stopped before its end.').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command or session' }).waitFor()
  await page.keyboard.type('usage')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

test('on a phone the buttons of a request are in reach, and nothing is wider than the screen', async () => {
  const { id } = await beginDemo()
  const watched = await signedIn({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true })
  const { page } = watched
  await page.locator(`[data-session="${id}"]`).tap()
  const allow = page.getByRole('button', { name: 'Allow once' })
  await allow.waitFor()
  const box = await allow.boundingBox()
  expect(box?.y).toBeGreaterThan(320)
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(640)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await page.getByRole('article').getByRole('region', { name: 'Input' }).hover()
  await page.mouse.wheel(0, 2_000)
  await allow.tap()
  await page.getByText('Allowed by local (page):').waitFor()
  await page.getByRole('link', { name: 'Back to all sessions' }).tap()
  await page.locator(`[data-session="${id}"]`).waitFor()
  expect(await faultsOf(watched)).toEqual([])
})
