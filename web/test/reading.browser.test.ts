import type { Page } from 'playwright-core'
import { beforeAll, expect, test, vi } from 'vitest'
import { promptFor } from '../../test/gateway/puppet.ts'
import { faultsOf, theatre, violations } from './page.ts'
import { workday } from './scenes.ts'

const { stage, signedIn } = theatre()

const PATIENCE = { timeout: 30_000 }
const PROMPT = 'Why?'

let id = ''

beforeAll(async () => {
  const { client, home } = stage
  const begun = await client.begin({ agent: 'puppet', cwd: home, prompt: promptFor(PROMPT, workday(home)) })
  id = begun.id
  await vi.waitFor(async () => expect((await client.session(id)).lastOutcome).toBe('completed'), PATIENCE)
})

async function opened(width: number): Promise<Page> {
  const { page } = await signedIn({ viewport: { width, height: 800 } })
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByRole('heading', { name: 'What went wrong' }).waitFor()
  return page
}

async function toTop(page: Page): Promise<void> {
  await page.locator('[data-scroller]').hover()
  await page.mouse.wheel(0, -30_000)
  await page.getByText(PROMPT, { exact: true }).waitFor()
}

const style = (page: Page, selector: string, name: string): Promise<unknown> =>
  page.evaluate(`getComputedStyle(document.querySelector('${selector}')).getPropertyValue('${name}')`)

test('an answer has coloured code with its language and a copy button, and a table that scrolls by itself', async () => {
  const watched = await signedIn({
    viewport: { width: 390, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const { page } = watched
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('strict', { exact: false }).first().waitFor()
  await page.locator('.code-block .hljs-attr').first().waitFor()
  expect(await page.locator('.code-label').allTextContents()).toEqual(['ts', 'sh', 'json'])
  await page.locator('.code-copy').last().click()
  await page.getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    '{ "page": 1, "size": 20, "sort": ["name", "-date"], "strict": true }',
  )
  expect(await style(page, 'th:nth-child(2)', 'text-align')).toBe('center')
  expect(await style(page, 'td:nth-child(3)', 'text-align')).toBe('right')
  const table = page.getByRole('region', { name: 'Table' })
  expect(await table.evaluate((found) => found.scrollWidth > found.clientWidth)).toBe(true)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  expect(await violations(page)).toEqual([])
  expect(await faultsOf(watched)).toEqual([])
})

test('hidden and reversing characters of a message are shown as escapes, and its text is otherwise unchanged', async () => {
  const page = await opened(1280)
  await page.getByText('invoice\\u202efdp.exe').waitFor()
  await page.getByText('hides\\u200b a character').waitFor()
})

test('paths are relative to the directory of the session, and a phone keeps the file name', async () => {
  const page = await opened(390)
  await toTop(page)
  const read = page.locator('[data-tool=read] > button')
  await expect.poll(() => read.textContent()).toContain('Readsrc/paginate.ts')
  const [name] = await read.getByText('paginate.ts', { exact: true }).all()
  expect(await name?.evaluate((found) => found.scrollWidth <= found.clientWidth)).toBe(true)
  expect(await page.locator('[data-tool]').getByText(stage.home).count()).toBe(0)
})

test('a failed call is open, a call that succeeded is not, and a short prompt has a short bubble', async () => {
  const page = await opened(1280)
  await toTop(page)
  await page.locator('[data-tool=fail]').getByText('tests 3, pass 1, fail 2').waitFor()
  expect(await page.locator('[data-tool=read] [aria-expanded]').getAttribute('aria-expanded')).toBe('false')
  const bubble = await page.getByText(PROMPT, { exact: true }).boundingBox()
  expect(bubble?.width).toBeLessThan(120)
})

test('a long output opens at its end, goes to its start, and is searched from the last place backwards', async () => {
  const page = await opened(1280)
  const call = page.locator('[data-tool=big]')
  await page.locator('[data-scroller]').hover()
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, -300)
      return call.isVisible()
    })
    .toBe(true)
  await call.locator('[aria-expanded]').click()
  const output = call.getByRole('region', { name: 'Output' })
  await output.getByText('test 899 of the product list').waitFor()
  const atEnd = () => output.evaluate((box) => box.scrollTop + box.clientHeight >= box.scrollHeight - 2)
  await expect.poll(atEnd).toBe(true)
  await call.getByRole('button', { name: 'First' }).click()
  await output.getByText('test 0 of the product list').waitFor()
  await expect.poll(() => output.evaluate((box) => box.scrollTop)).toBe(0)
  await call.getByRole('searchbox', { name: 'Search the output' }).fill('FAILED')
  await call.getByText('9 of 9').waitFor()
  await output.locator('.output-match').getByText('test 872 failed').waitFor()
  await page.keyboard.press('Enter')
  await call.getByText('8 of 9').waitFor()
  await output.locator('.output-match').getByText('test 775 failed').waitFor()
  await call.getByRole('button', { name: 'Last' }).click()
  await expect.poll(atEnd).toBe(true)
})
