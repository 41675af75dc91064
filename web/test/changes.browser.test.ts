import type { Page } from 'playwright-core'
import { beforeAll, expect, test, vi } from 'vitest'
import { promptFor, script, success } from '../../test/gateway/puppet.ts'
import { faultsOf, theatre, violations } from './page.ts'
import { workday } from './scenes.ts'

const { stage, signedIn } = theatre()

const PATIENCE = { timeout: 30_000 }
let id = ''

beforeAll(async () => {
  const { client, home } = stage
  const file = {
    type: 'file.changed',
    path: `${home}/src/late.ts`,
    change: 'created',
    after: 'late\n',
  } as const
  const second = script({ say: file }, success)
  id = (await client.begin({ agent: 'able', cwd: home, prompt: promptFor('First', workday(home)) })).id
  await client.prompt(id, promptFor('Second', second))
  await vi.waitFor(async () => expect((await client.session(id)).turns).toBe(2), PATIENCE)
  await vi.waitFor(async () => expect((await client.session(id)).status).toBe('idle'), PATIENCE)
})

async function opened(options = {}): Promise<{ page: Page; watched: Awaited<ReturnType<typeof signedIn>> }> {
  const watched = await signedIn({ viewport: { width: 1440, height: 900 }, ...options })
  const { page } = watched
  await page.goto(`${stage.url}/#/sessions/${id}/changes`)
  await page.getByText('3 files').waitFor()
  return { page, watched }
}

test('changes have a tree, totals, numbers and colours, of the whole session or of a turn', async () => {
  const { page, watched } = await opened()
  await page.getByText('+5', { exact: true }).first().waitFor()
  await page.getByText('−1', { exact: true }).first().waitFor()
  const tree = page.getByRole('navigation', { name: 'Changed files' })
  await tree.getByText('a-folder-with-a-name/and-another-one').waitFor()
  const names = ['paginate.ts', 'first-page.test.ts', 'late.ts']
  const inOrder = (text: string | null) =>
    names
      .filter((name) => text?.includes(name))
      .sort((a, b) => (text ?? '').indexOf(a) - (text ?? '').indexOf(b))
  const diffs = await page.getByRole('region', { name: /\.ts$/ }).allTextContents()
  expect(inOrder(diffs.join())).toEqual(inOrder(await tree.textContent()))
  await tree.getByRole('button', { name: /paginate\.ts/ }).click()
  const file = page.getByRole('region', { name: /paginate\.ts/ })
  await file.locator('.hljs-keyword').first().waitFor()
  expect(await file.locator('[data-number="3"]').count()).toBe(2)
  await page.getByLabel('Changes of').selectOption('Turn 2')
  await page.getByText('1 file', { exact: false }).first().waitFor()
  await page.getByRole('region', { name: /late\.ts/ }).waitFor()
  await file.waitFor({ state: 'detached' })
  expect(await violations(page)).toEqual([])
  expect(await faultsOf(watched)).toEqual([])
})

test('files fold, diffs stand in two columns, and the patch is copied', async () => {
  const { page } = await opened({ permissions: ['clipboard-read', 'clipboard-write'] })
  const line = page.getByText('const start = (page - 1) * size')
  await line.first().waitFor()
  await page.getByRole('button', { name: 'Split' }).click()
  const file = page.getByRole('region', { name: /paginate\.ts/ })
  const boxes = () =>
    Promise.all(['bad', 'good'].map((look) => file.locator(`.diff .bg-${look}-wash`).boundingBox()))
  const [removed, added] = await boxes()
  expect(added?.y).toBe(removed?.y)
  expect(added?.x).toBeGreaterThanOrEqual((removed?.x ?? 0) + (removed?.width ?? 0))
  // Two columns need room; where the switch is hidden, there is one column.
  await page.setViewportSize({ width: 900, height: 900 })
  await page.getByRole('button', { name: 'Unified' }).waitFor({ state: 'detached' })
  const [above, below] = await boxes()
  expect(below?.x).toBe(above?.x)
  expect(below?.y).toBeGreaterThan(above?.y ?? 0)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: 'Unified' }).click()
  await page.getByRole('button', { name: 'Fold all' }).click()
  await line.first().waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Copy patch' }).click()
  await page.getByText('Copied').waitFor()
  const patch = String(await page.evaluate('navigator.clipboard.readText()'))
  expect(patch).toContain('--- a/src/paginate.ts\n+++ b/src/paginate.ts\n@@ -1,5 +1,5 @@')
  expect(patch).toContain('--- /dev/null\n+++ b/src/late.ts')
})

test('an editor opens a file only for those who chose one', async () => {
  const { page } = await opened()
  expect(await page.getByRole('link', { name: 'Open', exact: true }).count()).toBe(0)
  await page.getByLabel('Open files in').selectOption('VS Code')
  const link = page
    .getByRole('region', { name: /paginate\.ts/ })
    .getByRole('link', { name: 'Open', exact: true })
  expect(await link.getAttribute('href')).toBe(`vscode://file${stage.home}/src/paginate.ts:3`)
})

test('a comment on a line goes to the agent with the next prompt, and survives a reload', async () => {
  const { page, watched } = await opened()
  const file = page.getByRole('region', { name: /paginate\.ts/ })
  await file.getByText('const start = (page - 1) * size').hover()
  await file.getByRole('button', { name: 'Comment on line 3' }).click()
  await page.getByRole('textbox', { name: 'Comment on line 3' }).fill('Please name it offset')
  await page.keyboard.press('Enter')
  await file.getByText('Please name it offset').waitFor()
  await page.reload()
  await file.getByText('Please name it offset').waitFor()
  await page.getByRole('textbox', { name: 'Prompt' }).fill('One wish:')
  await page.keyboard.press('Control+Enter')
  await vi.waitFor(async () => expect((await stage.client.session(id)).turns).toBe(3), PATIENCE)
  const { entries = [] } = await stage.client.page(id, { types: ['turn.started', 'turn.queued'] })
  expect(entries.at(-1)?.event).toMatchObject({
    prompt: 'One wish:\n\nsrc/paginate.ts:3\n> const start = (page - 1) * size\nPlease name it offset',
  })
  await file.getByText('with your next prompt').waitFor({ state: 'detached' })
  expect(await faultsOf(watched)).toEqual([])
})

const COMMENT = `document.querySelector('section[aria-label$="late.ts"] [aria-label="Comment on line 1"]')`

test('a line is commented on by touch and by keyboard', async () => {
  const { page } = await opened({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } })
  const file = page.getByRole('region', { name: /late\.ts/ })
  const button = file.getByRole('button', { name: 'Comment on line 1' })
  expect(await page.evaluate(`getComputedStyle(${COMMENT}).opacity`)).toBe('1')
  await button.tap()
  await page.getByRole('textbox', { name: 'Comment on line 1' }).fill('By touch')
  await page.getByRole('button', { name: 'Add comment' }).tap()
  await file.getByText('By touch').waitFor()
  const { page: desk } = await opened()
  const own = desk.getByRole('region', { name: /late\.ts/ })
  await own.getByRole('button', { name: 'Path' }).focus()
  await desk.keyboard.press('Tab')
  expect(
    await desk.evaluate(`[${COMMENT} === document.activeElement, getComputedStyle(${COMMENT}).opacity]`),
  ).toEqual([true, '1'])
  await desk.keyboard.press('Enter')
  await desk.keyboard.type('By keyboard')
  await desk.keyboard.press('Control+Enter')
  await own.getByText('By keyboard').waitFor()
})

test('all changes are read, also where the server sends them in several pages', async () => {
  const big = Array.from({ length: 3 }, (_, index) => ({
    say: {
      type: 'file.changed',
      path: `${stage.home}/big-${index}.txt`,
      change: 'created',
      after: `${index}\n${'x'.repeat(2_200_000)}\n`,
    } as const,
  }))
  const prompt = promptFor('Big', script(...big, success))
  const { id: large } = await stage.client.begin({ agent: 'able', cwd: stage.home, prompt })
  await vi.waitFor(async () => expect((await stage.client.session(large)).status).toBe('idle'), PATIENCE)
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/sessions/${large}/changes`)
  await page.getByText('3 files').waitFor()
})

test('a session without changes says what will be here', async () => {
  const { page } = await signedIn()
  const { id: empty } = await stage.client.begin({ agent: 'echo', prompt: 'hello' })
  await page.goto(`${stage.url}/#/sessions/${empty}/changes`)
  await page.getByText(/No file was changed/).waitFor()
})
