import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test, vi } from 'vitest'
import { promptFor, script, text } from '../../test/gateway/puppet.ts'
import { faultsOf, theatre, violations } from './page.ts'

const { stage, signedIn } = theatre()

const PATIENCE = { timeout: 30_000 }
const working = promptFor('Work', script(text('a', 'working')))

beforeAll(() => {
  mkdirSync(join(stage.home, 'src'), { recursive: true })
  writeFileSync(join(stage.home, 'src/paginate.ts'), '')
})

/** Pastes an image into the field. */
const PASTE = `{
  const data = new DataTransfer()
  data.items.add(new File([new Uint8Array([1, 2, 3])], 'shot.png', { type: 'image/png' }))
  const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
  document.getElementById('prompt').dispatchEvent(event)
}`

const prompts = async (id: string) => {
  const { entries = [] } = await stage.client.page(id, { types: ['turn.started', 'turn.queued'] })
  return entries.map(({ event }) => ('prompt' in event ? event.prompt : ''))
}

async function opened(agent: string) {
  const { id } = await stage.client.begin({ agent, cwd: stage.home, prompt: working })
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('working').waitFor()
  return { id, page, watched, field: page.getByRole('textbox', { name: 'Prompt' }) }
}

test('"@" completes names of files below the directory of the session', async () => {
  const { page, field, watched } = await opened('able')
  await field.fill('look at @pagi')
  await page.getByRole('option', { name: 'src/paginate.ts' }).waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Tab')
  expect(await field.inputValue()).toBe('look at @src/paginate.ts ')
  await field.fill('me@pagi')
  await page.getByRole('listbox', { name: 'Files' }).waitFor({ state: 'detached' })
  expect(await faultsOf(watched)).toEqual([])
})

test('a draft is kept on the way to another session and over a reload', async () => {
  const { page, field } = await opened('able')
  await field.fill('half a thought')
  await page.goto(`${stage.url}/#/usage`)
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  await page.goBack()
  await expect.poll(() => field.inputValue()).toBe('half a thought')
  await page.reload()
  await expect.poll(() => field.inputValue()).toBe('half a thought')
})

test('queued prompts are edited, removed and sent with images, and a running turn is steered', async () => {
  const { id, page, field, watched } = await opened('able')
  for (const prompt of ['second', 'third']) {
    await field.fill(prompt)
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Queue' }).getByText(prompt).waitFor()
  }
  const queued = page.getByRole('list', { name: 'Queue' }).getByRole('listitem')
  await queued.filter({ hasText: 'second' }).getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => queued.count()).toBe(1)
  await queued.getByRole('button', { name: 'Edit' }).click()
  await expect.poll(() => field.inputValue()).toBe('third')
  await expect.poll(async () => (await stage.client.session(id)).queue).toEqual([])
  await page.evaluate(PASTE)
  await page.getByRole('list', { name: 'Goes with the prompt' }).getByText('shot.png').waitFor()
  await page.getByRole('button', { name: 'Queue', exact: true }).click()
  await expect
    .poll(async () => (await stage.client.session(id)).queue)
    .toMatchObject([{ prompt: 'third', images: 1 }])
  await field.fill('faster')
  await page.getByRole('button', { name: 'Steer' }).click()
  await page.getByText('faster').first().waitFor()
  expect(await prompts(id)).toEqual(['Work', 'second', 'third', 'third'])
  expect(await faultsOf(watched)).toEqual([])
})

const DROP = `{
  const data = new DataTransfer()
  data.items.add(new File([new Uint8Array([1, 2, 3])], 'shot.png', { type: 'image/png' }))
  const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
  document.querySelector('textarea').dispatchEvent(event)
}`

test('a new session begins with the model that was chosen and the image that was dropped', async () => {
  const { page, faults } = await signedIn()
  await page.goto(`${stage.url}/#/new`)
  const form = page.getByRole('region', { name: 'New session' })
  await form.getByRole('combobox', { name: /^Agent/ }).selectOption('able')
  await form.getByRole('textbox', { name: 'Prompt' }).fill(working)
  await page.evaluate(DROP)
  await form.getByText('shot.png').waitFor()
  await form.getByRole('textbox', { name: 'Model' }).fill('large-model-4')
  const begun = page.waitForRequest(
    (request) => request.url().endsWith('/v1/sessions') && request.method() === 'POST',
  )
  await form.getByRole('button', { name: 'Start session' }).click()
  await page.getByText('working').waitFor()
  expect(JSON.parse((await begun).postData() ?? '')).toMatchObject({
    agent: 'able',
    prompt: 'Work',
    options: { model: 'large-model-4', images: [{ mimeType: 'image/png', data: 'AQID' }] },
  })
  expect(faults).toEqual([])
})

test('the permissions are changed beside the field', async () => {
  const { id, page } = await opened('able')
  await page.getByLabel('Permissions of this session').selectOption('Allow everything')
  await page.getByRole('button', { name: 'Apply' }).click()
  await vi.waitFor(
    async () => expect((await stage.client.session(id)).policy.approval).toBe('auto-all'),
    PATIENCE,
  )
})

/** The only pixel of a PNG. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Pastes screenshots of 3 MB into a field: a PNG, followed by data that its decoder skips. */
const pasteImages = (field: string, copies: number) => `{
  const pixel = Uint8Array.from(atob('${PIXEL}'), (one) => one.charCodeAt(0))
  const parts = [pixel, new Uint8Array(3 * 1024 * 1024).fill(7)]
  const data = new DataTransfer()
  for (let at = 0; at < ${copies}; at++) data.items.add(new File(parts, 'shot-' + at + '.png', { type: 'image/png' }))
  const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
  document.querySelector('${field}').dispatchEvent(event)
}`

test('screenshots of 3 MB go with a prompt and with a new session, up to 11 MB together', async () => {
  const { id, page, field, watched } = await opened('able')
  const goes = page.getByRole('list', { name: 'Goes with the prompt' })
  await page.evaluate(pasteImages('#prompt', 3))
  await goes.getByText('shot-2.png').waitFor()
  await page.evaluate(pasteImages('#prompt', 1))
  await page.getByRole('alert').filter({ hasText: '11 MB together' }).waitFor()
  await field.fill('see these')
  await page.getByRole('button', { name: 'Queue', exact: true }).click()
  await expect
    .poll(async () => (await stage.client.session(id)).queue)
    .toMatchObject([{ prompt: 'see these', images: 3 }])
  await page.goto(`${stage.url}/#/`)
  await page.getByRole('combobox', { name: /^Agent/ }).selectOption('able')
  await page.evaluate(pasteImages('textarea[aria-label=Prompt]', 2))
  await goes.getByText('shot-1.png').waitFor()
  await page.getByRole('textbox', { name: 'Prompt' }).fill(working)
  await page.getByRole('button', { name: 'Start session' }).click()
  await page.getByText('working').waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

/** The server gets the first prompt, and the page no response. */
async function loseFirstResponse(page: Page): Promise<void> {
  let sent = 0
  await page.route('**/turns', async (route) => {
    if (sent++ > 0) return route.continue()
    await route.fetch()
    await route.abort()
  })
}

test('a prompt whose response was lost is changed and sent again', async () => {
  const { id, page, field } = await opened('able')
  await loseFirstResponse(page)
  await field.fill('first wording')
  await page.getByRole('button', { name: 'Queue', exact: true }).click()
  await page.getByRole('alert').waitFor()
  await field.fill('second wording')
  await page.getByRole('button', { name: 'Queue', exact: true }).click()
  await expect.poll(() => field.inputValue()).toBe('')
  expect((await stage.client.session(id)).queue.map(({ prompt }) => prompt)).toEqual([
    'first wording',
    'second wording',
  ])
})

test('a prompt that is sent again as it is becomes one turn', async () => {
  const { id, page, field } = await opened('able')
  await loseFirstResponse(page)
  await field.fill('once')
  await page.getByRole('button', { name: 'Queue', exact: true }).click()
  await page.getByRole('alert').waitFor()
  await page.getByRole('button', { name: 'Queue', exact: true }).click()
  await expect.poll(() => field.inputValue()).toBe('')
  await field.fill('once')
  await page.getByRole('button', { name: 'Queue', exact: true }).click()
  await expect.poll(() => field.inputValue()).toBe('')
  expect((await stage.client.session(id)).queue.map(({ prompt }) => prompt)).toEqual(['once', 'once'])
})

/** Pastes or drops a text, with or without an image; returns whether the browser inserts the text itself. */
const give = (type: 'paste' | 'drop', hasImage: boolean) => `{
  const data = new DataTransfer()
  data.setData('text/plain', 'a note')
  if (${hasImage}) data.items.add(new File([new Uint8Array([1])], 'shot.png', { type: 'image/png' }))
  const init = { bubbles: true, cancelable: true }
  const event = '${type}' === 'paste'
    ? new ClipboardEvent('paste', { ...init, clipboardData: data })
    : new DragEvent('drop', { ...init, dataTransfer: data })
  document.getElementById('prompt').dispatchEvent(event)
}`

test('text that is pasted beside an image, or dropped, is left to the browser', async () => {
  const { page } = await opened('able')
  expect(await page.evaluate(give('drop', false))).toBe(true)
  expect(await page.evaluate(give('paste', true))).toBe(true)
  await page.getByRole('list', { name: 'Goes with the prompt' }).getByText('shot.png').waitFor()
  expect(await page.evaluate(give('drop', true))).toBe(false)
})
