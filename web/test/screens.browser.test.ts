import { beforeAll, describe, expect, test, vi } from 'vitest'
import { script, success, text } from '../../test/gateway/puppet.ts'
import { faultsOf, theatre, violations } from './page.ts'

const { stage, open, signedIn } = theatre()

const PATIENCE = { timeout: 30_000 }

/** A session that waits for an answer, and one that is over. */
let asking = ''
let done = ''

beforeAll(async () => {
  const { client } = stage
  asking = (await client.begin({ agent: 'demo', prompt: 'The product list skips its first page.' })).id
  done = (
    await client.begin({ agent: 'puppet', prompt: script(text('a', 'one'), text('b', '**two**'), success) })
  ).id
  await vi.waitFor(async () => expect((await client.session(asking)).requests).toHaveLength(1), PATIENCE)
  await vi.waitFor(async () => expect((await client.session(done)).lastOutcome).toBe('completed'), PATIENCE)
})

const SCREENS: readonly [string, () => string, string][] = [
  ['inbox', () => '#/', 'heading[name=/needs you/]'],
  ['new session', () => '#/new', 'heading[name="New session"]'],
  ['conversation', () => `#/sessions/${asking}`, 'article'],
  ['finished conversation', () => `#/sessions/${done}`, 'textbox[name="Prompt"]'],
  ['changes', () => `#/sessions/${done}/changes`, 'textbox[name="Prompt"]'],
  ['events', () => `#/sessions/${done}/events/3`, 'article[name="Entry 3"]'],
  ['replay', () => `#/sessions/${done}/replay`, 'slider'],
  ['search', () => '#/search?q=product', 'list'],
  ['usage', () => '#/usage', 'heading[name="By agent"]'],
  ['compare', () => '#/compare', 'heading[name="Compare agents"]'],
  ['nodes', () => '#/nodes', 'heading[name="Nodes"]'],
  ['a session that does not exist', () => '#/sessions/nowhere', 'alert'],
]

describe.each([
  { colorScheme: 'light', rules: undefined },
  // A theme is colours; the other rules have the same answer in both.
  { colorScheme: 'dark', rules: ['color-contrast', 'link-in-text-block'] },
] as const)('in the $colorScheme theme', ({ colorScheme, rules }) => {
  test('no screen has a serious fault of accessibility', async () => {
    const signedOut = await open({ colorScheme })
    await signedOut.page.goto(`${stage.url}/`)
    await signedOut.page.getByLabel('Or enter a token').waitFor()
    expect(await violations(signedOut.page, rules), 'sign-in').toEqual([])
    await signedOut.page.goto('about:blank')
    await signedOut.page.goto(`${stage.url}/#ticket=wrong`)
    await signedOut.page.getByText('This link was used before or has expired').waitFor()
    expect(await violations(signedOut.page, rules), 'wrong ticket').toEqual([])
    const { page } = await signedIn({ colorScheme })
    for (const [name, hash, role] of SCREENS) {
      await page.goto(`${stage.url}/${hash()}`)
      await page.locator(`role=${role}`).first().waitFor()
      expect(await violations(page, rules), name).toEqual([])
    }
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Command or session' }).waitFor()
    expect(await violations(page, rules), 'palette').toEqual([])
  })
})

test('events show the raw frame beside the event, in any dialect, and have an address', async () => {
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/sessions/${done}/events`)
  await page.locator('[data-seq="4"]').click()
  const entry = page.getByRole('article', { name: 'Entry 4' })
  await entry.getByRole('region', { name: 'Event' }).getByText('"messageId"').waitFor()
  await entry.getByRole('region', { name: /Raw frame/ }).waitFor()
  expect(page.url()).toContain(`/events/4`)
  await page.goto(`${stage.url}/#/sessions/${done}/events/2`)
  await page.getByRole('article', { name: 'Entry 2' }).waitFor()
  await page.getByText('0 unaccounted').waitFor()
  await page.getByRole('searchbox', { name: 'Filter by type' }).fill('turn.')
  await expect.poll(() => page.locator('[data-seq]').count()).toBe(2)
  await page.getByLabel('Dialect').selectOption('unified')
  await page.getByRole('searchbox', { name: 'Filter by type' }).fill('')
  await page.getByText('turnCompleted').first().waitFor()
  await page.getByLabel('Dialect').selectOption('raw frames')
  await page.locator('[data-frame="1"]').getByText('→ to the agent').waitFor()
  await page.locator('[data-frame]').getByText('← stdout').first().waitFor()
  await page.getByRole('searchbox', { name: 'Filter by type' }).fill('sent')
  await expect.poll(() => page.getByText('← stdout').count()).toBe(0)
  expect(await faultsOf(watched)).toEqual([])
})

test('a search finds words in every session, and leads to the entry', async () => {
  const watched = await signedIn()
  const { page } = watched
  await page.keyboard.press('/')
  await page.getByRole('searchbox', { name: 'Search all sessions' }).fill('SLICE starts')
  await page
    .getByRole('link', { name: /^Thinking/ })
    .first()
    .click()
  await page
    .getByRole('article', { name: /^Entry \d+/ })
    .getByText('slice')
    .first()
    .waitFor()
  await page.goto(`${stage.url}/#/search?q=nowhere-to-be-found`)
  await page.getByText('No entry contains all of these words.').waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

test('a search finds words by their beginnings, and marks them', async () => {
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/search?q=${encodeURIComponent('SLIC page')}`)
  await expect.poll(() => page.locator('mark').allTextContents()).toContain('slice')
  await page.goto(`${stage.url}/#/search?q=${encodeURIComponent('%')}`)
  await page.getByText('give a word with a letter or a digit').waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

test('usage is divided by agent, model and principal, as tokens and as cost', async () => {
  const watched = await signedIn()
  const { page } = watched
  const usage = { input: 700, output: 300, total: 1000, costUsd: 0.25 }
  const verdict = { type: 'turn.verdict', evidence: 'success', denials: 0, personDenials: 0, usage } as const
  const cues = [{ say: { type: 'session.updated', model: 'large-model' } as const }, { say: verdict }]
  const { id } = await stage.client.begin({ agent: 'puppet', prompt: script(...cues) })
  await vi.waitFor(
    async () => expect((await stage.client.session(id)).lastOutcome).toBe('completed'),
    PATIENCE,
  )
  await page.goto(`${stage.url}/#/usage`)
  await page.getByRole('img', { name: 'Tokens by day' }).waitFor()
  await page.getByRole('row', { name: /^large-model 1 700 – 300 1.0k \$0.25/ }).waitFor()
  await page.getByRole('row', { name: /^local / }).waitFor()
  await page.getByRole('button', { name: 'Model' }).click()
  await page.getByRole('button', { name: 'Cost' }).click()
  const bars = page.getByRole('img', { name: 'Cost by day' }).locator('rect title')
  await expect
    .poll(() => bars.allTextContents())
    .toContainEqual(expect.stringContaining('large-model: $0.25'))
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: '7 days' }).click()
  await page.getByRole('row', { name: /^large-model/ }).waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

test('a replay plays a session to its end, and the scrubber goes back', async () => {
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/sessions/${done}/replay`)
  await page.getByLabel('Speed').selectOption('20×')
  const stageOf = page.locator('[data-last-seq]')
  const { head } = await stage.client.session(done)
  await expect.poll(async () => Number(await stageOf.getAttribute('data-last-seq'))).toBe(head)
  await page.getByRole('slider', { name: 'Position' }).fill('0')
  await expect.poll(async () => Number(await stageOf.getAttribute('data-last-seq'))).toBeLessThan(head)
  expect(await faultsOf(watched)).toEqual([])
})

test('one prompt goes to several agents, side by side, with a table', async () => {
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/compare`)
  await page.getByLabel('Prompt').fill('say hello')
  await page.getByRole('checkbox', { name: 'Echo' }).check()
  await page.getByRole('checkbox', { name: 'Demo' }).check()
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('region', { name: 'echo', exact: true }).getByText('say hello').first().waitFor()
  await page.getByRole('row', { name: /^echo completed/ }).waitFor()
  await page
    .getByRole('region', { name: 'demo', exact: true })
    .getByRole('button', { name: 'Allow once' })
    .click()
  expect(await faultsOf(watched)).toEqual([])
})

/** A background page of a browser with notifications allowed, which collects the notifications. */
const IN_BACKGROUND = `
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
  globalThis.announced = []
  globalThis.Notification = class {
    static permission = 'granted'
    constructor(title, { body }) {
      announced.push(title + ', ' + body)
    }
  }
`

test('a page in the background announces a session that needs someone', async () => {
  const watched = await open()
  const { page } = watched
  await page.addInitScript(IN_BACKGROUND)
  await page.goto(`${stage.url}/#ticket=${await stage.client.ticket()}`)
  await page.locator(`[data-session="${done}"]`).waitFor()
  await stage.client.begin({ agent: 'demo', name: 'cart', prompt: 'The product list skips its first page.' })
  await expect.poll(() => page.evaluate('announced')).toContain('cart, demo: needs you')
  expect(await faultsOf(watched)).toEqual([])
})

test('the clock of a silent session ticks without data', async () => {
  const { page } = await signedIn()
  await page.clock.install()
  await page.goto(`${stage.url}/#/`)
  const { id } = await stage.client.begin({ agent: 'able', prompt: script(text('a', 'working')) })
  await page.locator(`[data-session="${id}"]`).getByText('running', { exact: true }).waitFor()
  await page.clock.fastForward('03:10')
  await page
    .locator(`[data-session="${id}"]`)
    .getByText(/no output for 3:1\d/)
    .waitFor()
})
