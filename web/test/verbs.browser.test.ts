import type { Page } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { promptFor, script, success, text } from '../../test/gateway/puppet.ts'
import { faultsOf, theatre, violations } from './page.ts'

const { stage, signedIn } = theatre()

const PATIENCE = { timeout: 30_000 }
const first = () =>
  promptFor(
    'Begin',
    script({ say: { type: 'session.updated', nativeSessionId: 'native-1' } }, text('a', 'I begin.'), success),
  )
for (const command of ['/compact', '/review', '/goal all tests pass', '/rewind 1'])
  promptFor(command, script(text('b', `did ${command}`), success))

async function opened(): Promise<{ id: string; page: Page; watched: Awaited<ReturnType<typeof signedIn>> }> {
  const { id } = await stage.client.begin({ agent: 'verbal', cwd: stage.home, prompt: first() })
  await vi.waitFor(async () => expect((await stage.client.session(id)).status).toBe('idle'), PATIENCE)
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('I begin.').waitFor()
  return { id, page, watched }
}

async function choose(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command or session' }).fill(name)
  await page.getByRole('option', { name }).first().click()
}

const COMMANDS: readonly [name: string, said: string][] = [
  ['Compact the conversation', 'did /compact'],
  ['Review the uncommitted changes', 'did /review'],
  ['Restore the files as before turn 1', 'did /rewind 1'],
]

test('commands of the agent are in the palette and in the settings', async () => {
  const { page, watched } = await opened()
  for (const [name, said] of COMMANDS) {
    await choose(page, name)
    await page.getByText(said, { exact: true }).waitFor()
  }
  await page.getByText('Settings ▾').click()
  const menu = page.getByRole('list', { name: 'Commands of the agent' })
  expect(await violations(page)).toEqual([])
  await menu.getByRole('button', { name: 'Work on a goal until it is reached' }).click()
  const field = page.getByRole('textbox', { name: 'Prompt' })
  expect(await field.inputValue()).toBe('/goal ')
  await field.pressSequentially('all tests pass')
  await page.keyboard.press('Enter')
  await page.getByText('did /goal all tests pass', { exact: true }).waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

test('a session is renamed by its title and from the palette, and loses its name again', async () => {
  const { id, page, watched } = await opened()
  await page.getByRole('button', { name: 'Begin', exact: true }).click()
  const field = page.getByRole('textbox', { name: 'Name of the session' })
  await field.pressSequentially('fix the login')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'fix-the-login' }).waitFor()
  expect(await stage.client.session(id)).toMatchObject({ name: 'fix-the-login' })
  await page.locator(`[data-session="${id}"]`, { hasText: 'fix-the-login' }).waitFor()
  await choose(page, 'Rename this session')
  await field.fill('7 of them')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('a name begins with a letter').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'fix-the-login', exact: true }).click()
  await field.fill('')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Begin' }).waitFor()
  expect(await stage.client.session(id)).not.toHaveProperty('name')
  expect(await faultsOf(watched)).toEqual([])
})

test('a session continues in a copy', async () => {
  const { id, page } = await opened()
  await choose(page, 'Continue in a copy of this session')
  await expect.poll(() => new URL(page.url()).hash).not.toContain(id)
  const copy = new URL(page.url()).hash.split('/').at(-1) ?? ''
  await expect.poll(async () => (await stage.client.session(copy)).resumedFrom).toBe('native-1')
})

test('an agent without commands offers none', async () => {
  const { id } = await stage.client.begin({ agent: 'echo', prompt: 'hello' })
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('Settings ▾').click()
  await page.getByRole('button', { name: 'End session' }).waitFor()
  expect(await page.getByRole('list', { name: 'Commands of the agent' }).count()).toBe(0)
})

const PASTE = `{
  const data = new DataTransfer()
  data.items.add(new File([new Uint8Array([1, 2, 3])], 'shot.png', { type: 'image/png' }))
  const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
  document.getElementById('prompt').dispatchEvent(event)
}`

test('"Retry" sends the failed prompt again, with its images', async () => {
  const { id, page } = await opened()
  const field = page.getByRole('textbox', { name: 'Prompt' })
  const failing = script({ say: { type: 'turn.verdict', evidence: 'error', denials: 0, personDenials: 0 } })
  await field.fill(promptFor('Look at this', failing))
  await page.evaluate(PASTE)
  await page.getByText('shot.png').waitFor()
  await page.getByRole('button', { name: 'Send' }).click()
  const requests: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/turns')) requests.push(request.postData() ?? '')
  })
  await page.getByRole('button', { name: 'Retry' }).click()
  await vi.waitFor(async () => expect((await stage.client.session(id)).turns).toBe(3), PATIENCE)
  expect(requests.map((body) => JSON.parse(body))).toEqual([
    { prompt: 'Look at this', images: [{ mimeType: 'image/png', data: 'AQID' }] },
  ])
})

test('a session that ended is resumed in a new one', async () => {
  const { id, page } = await opened()
  await stage.client.end(id)
  await page.getByRole('button', { name: 'Resume in a new session' }).click()
  await expect.poll(() => new URL(page.url()).hash).not.toContain(id)
  const next = new URL(page.url()).hash.split('/').at(-1) ?? ''
  expect(await stage.client.session(next)).toMatchObject({ agent: 'verbal', resumedFrom: 'native-1' })
})

/** Sessions that change no more, in the order of the list. */
async function listed(page: Page): Promise<(string | null)[]> {
  const begun: string[] = []
  for (const prompt of ['older', 'newer']) {
    const { id } = await stage.client.begin({ agent: 'echo', prompt })
    await vi.waitFor(async () => expect((await stage.client.session(id)).status).toBe('idle'), PATIENCE)
    begun.unshift(id)
  }
  const ids = () =>
    page.locator('[data-session]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-session')))
  await expect.poll(async () => (await ids()).slice(0, 2)).toEqual(begun)
  return ids()
}

const focused = (page: Page) => () =>
  page.evaluate<string | null>(`document.activeElement.getAttribute('data-session')`)

test('J and K select a session, and Enter opens it', async () => {
  for (const { id, status } of (await stage.client.sessions()).sessions)
    if (status !== 'ended') await stage.client.end(id)
  const { page } = await signedIn()
  const ids = await listed(page)
  // Faster than a frame.
  await page.evaluate(`for (const key of ['j', 'j'])
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`)
  await expect.poll(focused(page)).toBe(ids[1])
  await page.keyboard.press('k')
  await expect.poll(focused(page)).toBe(ids[0])
  await page.keyboard.press('j')
  await expect.poll(focused(page)).toBe(ids[1])
  expect(new URL(page.url()).hash).toBe('#/')
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).hash).toBe(`#/sessions/${ids[1]}`)
})

test('the selected session stays selected while others come and go in the list', async () => {
  const { page } = await signedIn()
  const ids = await listed(page)
  for (const _ of [1, 2]) await page.keyboard.press('j')
  await expect.poll(focused(page)).toBe(ids[1])
  // The one above goes down, a new one comes up, and the selected one itself moves to the top.
  const { id: added } = await stage.client.begin({ agent: 'echo', prompt: 'added' })
  await page.locator(`[data-session="${added}"]`).waitFor()
  await stage.client.end(ids[0] ?? '')
  expect(await focused(page)()).toBe(ids[1])
  await stage.client.prompt(ids[1] ?? '', 'again')
  const first = () => page.locator('[data-session]').first().getAttribute('data-session')
  await expect.poll(first).toBe(ids[1])
  expect(await focused(page)()).toBe(ids[1])
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).hash).toBe(`#/sessions/${ids[1]}`)
})
