import { beforeAll, expect, test, vi } from 'vitest'
import { promptFor, script, success, text } from '../../test/gateway/puppet.ts'
import { faultsOf, theatre, violations } from './page.ts'
import { nightly } from './scenes.ts'

const { stage, signedIn } = theatre()

const PATIENCE = { timeout: 30_000 }
let failed = ''
let good = ''

async function begun(prompt: string, cues: string): Promise<string> {
  const { id } = await stage.client.begin({
    agent: 'puppet',
    cwd: stage.home,
    prompt: promptFor(prompt, cues),
  })
  await vi.waitFor(async () => expect((await stage.client.session(id)).status).toBe('idle'), PATIENCE)
  return id
}

beforeAll(async () => {
  failed = await begun('Update the dependencies', nightly)
  good = await begun(
    'Explain the cache',
    script(text('a', '## The **cache** keeps `pages` for a day'), success),
  )
})

test('sessions are filtered by state, and grouped by directory', async () => {
  const { page } = await signedIn()
  const row = (id: string) => page.locator(`[data-session="${id}"]`)
  await row(good).waitFor()
  await page.getByRole('button', { name: 'Failed', exact: true }).click()
  await row(good).waitFor({ state: 'detached' })
  await row(failed).getByText('crashed').waitFor()
  await page.getByRole('heading', { name: 'Failed 1' }).waitFor()
  await page.getByRole('button', { name: 'Needs you', exact: true }).click()
  await page.getByText('Nothing needs you.').waitFor()
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await page.getByRole('button', { name: 'Group by directory' }).click()
  await page.getByRole('heading', { name: new RegExp(`${stage.home.split('/').at(-1)} 2`) }).waitFor()
  expect(await violations(page)).toEqual([])
})

test('a session is pinned, and archived with undo', async () => {
  const { page } = await signedIn()
  const row = page.locator(`[data-session="${good}"]`)
  await row.click()
  await page.getByText('Settings ▾').waitFor()
  await page.keyboard.press('p')
  await page.getByRole('heading', { name: 'Pinned 1' }).waitFor()
  await page.keyboard.press('p')
  await page.getByRole('heading', { name: 'Pinned' }).waitFor({ state: 'detached' })
  await page.keyboard.press('e')
  await row.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.waitFor()
  await page.keyboard.press('e')
  await row.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Archived', exact: true }).click()
  await row.waitFor()
})

test('a session is deleted when the time to undo it is over, and not before', async () => {
  const id = await begun('Delete me', script(success))
  const watched = await signedIn()
  const { page } = watched
  await page.clock.install()
  await page.goto(`${stage.url}/#/sessions/${id}`)
  const row = page.locator(`[data-session="${id}"]`)
  const remove = async () => {
    await page.getByText('Settings ▾').click()
    await page.getByRole('button', { name: 'Delete session' }).click()
    await row.waitFor({ state: 'detached' })
  }
  await remove()
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.click()
  await page.clock.fastForward(20_000)
  expect((await stage.client.session(id)).id).toBe(id)
  await remove()
  expect((await stage.client.session(id)).id).toBe(id)
  await page.clock.fastForward(20_000)
  await expect
    .poll(() =>
      stage.client.session(id).then(
        () => 'there',
        ({ code }) => code,
      ),
    )
    .toBe('session_not_found')
  expect(await faultsOf(watched)).toEqual([])
})

test('a search shows sessions with their titles, and what was found in them without Markdown', async () => {
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/search`)
  await page.getByText('Finds words by their beginnings').waitFor()
  await page.getByRole('searchbox', { name: 'Search all sessions' }).fill('cach')
  const found = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Explain the cache' }).first()
  await found.getByText('Answer', { exact: true }).waitFor()
  await expect.poll(() => found.textContent()).toContain('The cache keeps pages for a day')
  expect(await found.locator('mark').first().textContent()).toBe('cache')
  await found.getByRole('link', { name: 'Explain the cache' }).first().click()
  await expect.poll(() => page.url()).toContain(`/sessions/${good}`)
  expect(await faultsOf(watched)).toEqual([])
})

test('"?" lists the keys, the palette acts on the session, and Escape closes the settings', async () => {
  const { page } = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${stage.url}/#/sessions/${good}`)
  await page.getByText('Settings ▾').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('next session that needs you').waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command or session' }).fill('copy link')
  await page.keyboard.press('Enter')
  await page.getByText('Link copied.').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`#/sessions/${good}`)
  await page.getByText('Settings ▾').click()
  await page.getByRole('button', { name: 'End session' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'End session' }).waitFor({ state: 'hidden' })
})

test('an export is downloaded whole', async () => {
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/sessions/${good}`)
  await page.getByText('Settings ▾').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command or session' }).fill('export')
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
  expect(download.suggestedFilename()).toBe(`${good}.ndjson`)
  const lines: string[] = []
  for await (const chunk of await download.createReadStream()) lines.push(String(chunk))
  expect(lines.join('').trimEnd().split('\n').at(-1)).toMatch(/^\{"end":/)
})

/** Sessions that begin at the same time. */
const TOGETHER = 10

test('a session that is older than the list is found by its state and by its words', async () => {
  for (let count = 0; count < 210; count += TOGETHER)
    await Promise.all(
      Array.from({ length: TOGETHER }, (_, index) =>
        stage.client.begin({ agent: 'echo', prompt: `note ${count + index}` }),
      ),
    )
  const watched = await signedIn()
  const { page } = watched
  const row = page.locator(`[data-session="${failed}"]`)
  await page
    .getByText(/note 20\d/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Failed', exact: true }).click()
  await row.waitFor()
  await page.reload()
  const filter = page.getByRole('searchbox', { name: 'Filter sessions' })
  await filter.fill('nightly dependency')
  await row.waitFor()
  await filter.fill('no session has this')
  await page.getByText('No session matches.').waitFor()
  expect((await stage.client.sessions({ failed: true })).sessions.map(({ id }) => id)).toContain(failed)
  expect(await faultsOf(watched)).toEqual([])
})
