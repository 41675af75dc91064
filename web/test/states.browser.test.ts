import { expect, test, vi } from 'vitest'
import { MainstemClient } from '../../src/client/index.ts'
import { addToken } from '../../test/daemon/add-token.ts'
import { type Cue, script, success, text } from '../../test/gateway/puppet.ts'
import { faultsOf, theatre, violations } from './page.ts'

const { stage, open, signedIn } = theatre()

const PATIENCE = { timeout: 30_000 }

/** A turn that fails with this message. */
const failure: Cue = {
  say: {
    type: 'turn.verdict',
    evidence: 'error',
    denials: 0,
    personDenials: 0,
    error: { code: 'overloaded', message: 'the model is overloaded' },
  },
}
const working = script(text('a', 'working'))

const ended = (id: string, outcome: string) =>
  vi.waitFor(async () => expect((await stage.client.session(id)).lastOutcome).toBe(outcome), PATIENCE)

interface Ending {
  label: string
  shown: RegExp
  begin(): Promise<{ id: string }>
}

const endings: Record<string, Ending> = {
  crashed: {
    label: 'crashed',
    shown: /^The agent ended without a result/,
    begin: () => stage.client.begin({ agent: 'puppet', prompt: working }),
  },
  failed: {
    label: 'failed',
    shown: /^The model is overloaded/,
    begin: () => stage.client.begin({ agent: 'puppet', prompt: script(failure) }),
  },
  timeout: {
    label: 'timeout',
    shown: /^The turn took longer than 0\.2 s/,
    begin: () => stage.client.begin({ agent: 'able', prompt: working, policy: { timeoutMs: 200 } }),
  },
  interrupted: {
    label: 'stopped',
    shown: /^The turn was stopped before its end/,
    async begin() {
      const begun = await stage.client.begin({ agent: 'able', prompt: working })
      await stage.client.interrupt(begun.id)
      return begun
    },
  },
}

test('the page tells how a turn ended, once and in a sentence', async () => {
  const { page } = await signedIn()
  for (const [outcome, { label, shown, begin }] of Object.entries(endings)) {
    const { id } = await begin()
    await ended(id, outcome)
    await page.goto(`${stage.url}/#/sessions/${id}`)
    await page.getByRole('paragraph').filter({ hasText: shown }).waitFor()
    await page.getByText('turn 1', { exact: true }).waitFor()
    expect(await page.getByRole('paragraph').filter({ hasText: shown }).count(), outcome).toBe(1)
    await page.locator(`[data-session="${id}"]`).getByText(label, { exact: true }).waitFor()
    expect(await violations(page), outcome).toEqual([])
  }
})

/** Holds what the page would draw, as a slow machine does. */
const SLOW_FRAMES = `
  const draw = requestAnimationFrame
  globalThis.held = undefined
  globalThis.requestAnimationFrame = (react) => (held ? held.push(react) : draw(react))
`

test('a page that was offline catches up to the last entry, and is live again', async () => {
  const watched = await open()
  const { page } = watched
  await page.addInitScript(SLOW_FRAMES)
  const { id } = await stage.client.begin({ agent: 'able', prompt: script(text('a', 'before'), success) })
  await ended(id, 'completed')
  await page.goto(`${stage.url}/#ticket=${await stage.client.ticket()}`)
  await page.locator(`[data-session="${id}"]`).click()
  await page.getByText('live', { exact: true }).waitFor()
  const reached = Promise.withResolvers<void>()
  await page.route('**/events**', async (route) => {
    await reached.promise
    await route.continue()
  })
  await stage.stop()
  await page.getByText('offline', { exact: true }).last().waitFor()
  // The badge has its place: nothing of the bar leaves the column.
  expect(await page.evaluate("document.querySelector('aside').scrollWidth")).toBeLessThanOrEqual(320)
  await stage.start()
  await stage.client.prompt(id, script(text('b', 'meanwhile'), success))
  await vi.waitFor(async () => expect((await stage.client.session(id)).turns).toBe(2), PATIENCE)
  await vi.waitFor(async () => expect((await stage.client.session(id)).status).toBe('idle'), PATIENCE)
  const { head } = await stage.client.session(id)
  await page.evaluate('held = []')
  reached.resolve()
  await page.getByText(`catching up to ${head}`, { exact: true }).waitFor()
  await page.evaluate('{ const all = held; held = undefined; for (const react of all) react(0) }')
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByText('meanwhile', { exact: true }).waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

test('a page shows that the server cannot write the log, and continues when it can', async () => {
  const watched = await open()
  const { page } = watched
  await page.goto(`${stage.url}/#ticket=${await stage.client.ticket()}`)
  const { id } = await stage.client.begin({ agent: 'able', prompt: script(text('a', 'stored')) })
  await page.locator(`[data-session="${id}"]`).click()
  await page.getByText('stored', { exact: true }).waitFor()
  const banner = page.getByRole('alert').filter({ hasText: 'not been able to write its store' })
  stage.disk.full = true
  try {
    await expect(stage.client.steer(id, 'never stored')).rejects.toMatchObject({ code: 'storage_failed' })
    await page.getByText('the disk is full').first().waitFor()
    await page.getByText('storage failed', { exact: true }).first().waitFor()
    await banner.waitFor()
    expect(await violations(page)).toEqual([])
  } finally {
    stage.disk.full = false
  }
  await banner.waitFor({ state: 'detached' })
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByText('failed', { exact: true }).first().waitFor()
  expect(await page.getByText('never stored').count()).toBe(0)
  expect(await faultsOf(watched)).toEqual([])
})

/** A browser that has not been asked about notifications yet. */
const NOT_ASKED = `
  globalThis.Notification = class {
    static permission = 'default'
    static async requestPermission() {
      return 'granted'
    }
  }
`

test('a button asks for notifications, and goes away once they are allowed', async () => {
  const watched = await open({ viewport: { width: 360, height: 640 } })
  const { page } = watched
  await page.addInitScript(NOT_ASKED)
  await page.goto(`${stage.url}/#ticket=${await stage.client.ticket()}`)
  const button = page.getByRole('button', { name: 'Notify me' })
  await button.waitFor()
  expect(await violations(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await button.click()
  await expect.poll(() => button.count()).toBe(0)
  expect(await faultsOf(watched)).toEqual([])
})

test('a session shows which credential is billed', async () => {
  const { id } = await stage.client.begin({ agent: 'echo', prompt: 'hello' })
  const { page } = await signedIn()
  await page.route('**/v1/agents', async (route) => {
    const answer = await route.fetch()
    const body: { agents: object[] } = await answer.json()
    const credentials = [{ variable: 'SOME_API_KEY' }, { file: '~/.some/login.json' }]
    const agents = body.agents.map((agent) => ({ ...agent, credentials }))
    await route.fulfill({ response: answer, json: { ...body, agents } })
  })
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('Billed by SOME_API_KEY or ~/.some/login.json').first().waitFor()
})

test('the title of the tab counts the sessions that need someone, and names the one that is shown', async () => {
  const { page } = await signedIn()
  const { id } = await stage.client.begin({ agent: 'demo', name: 'cart', prompt: 'The list skips a page.' })
  await expect.poll(() => page.title()).toBe('(1) Mainstem')
  await page.locator(`[data-session="${id}"]`).click()
  await expect.poll(() => page.title()).toBe('(1) cart · Mainstem')
  await stage.client.interrupt(id)
  await expect.poll(() => page.title()).toBe('cart · Mainstem')
})

test('one session that needs you leads to the next', async () => {
  const begin = () => stage.client.begin({ agent: 'demo', prompt: 'The list skips a page.' })
  const [{ id: first }, { id: second }] = await Promise.all([begin(), begin()])
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/sessions/${first}`)
  await page.getByRole('link', { name: 'One more needs you →' }).waitFor()
  await page.keyboard.press('g')
  await expect.poll(() => page.url()).toContain(second)
  await page.getByRole('link', { name: 'One more needs you →' }).click()
  await expect.poll(() => page.url()).toContain(first)
  await Promise.all([stage.client.interrupt(first), stage.client.interrupt(second)])
  await expect.poll(() => page.getByRole('link', { name: /needs? you →/ }).count()).toBe(0)
  expect(await faultsOf(watched)).toEqual([])
})

test('the list is filtered by the prompt that it shows, and leads to the search of all texts', async () => {
  const { id } = await stage.client.begin({ agent: 'echo', prompt: 'Untangle the scheduler' })
  const { page } = await signedIn()
  await page.locator(`[data-session="${id}"]`).getByText('Untangle the scheduler').waitFor()
  const filter = page.getByRole('searchbox', { name: 'Filter sessions' })
  await filter.fill('untangle')
  await expect.poll(() => page.locator('[data-session]').count()).toBe(1)
  await filter.fill('scheduler-of-nobody')
  await page.getByText('No session matches.').waitFor()
  await page.getByRole('link', { name: 'Search all texts for “scheduler-of-nobody”' }).click()
  await page.getByText('No entry contains all of these words.').waitFor()
})

test('a long list says that there is more, and loads it', async () => {
  const prompts = Array.from({ length: 30 }, (_, index) => `Task ${index}`)
  await Promise.all(prompts.map((prompt) => stage.client.begin({ agent: 'echo', prompt })))
  const watched = await open()
  const { page } = watched
  // Smaller pages than those of the page, so that a few sessions are many.
  await page.route('**/v1/sessions?limit=200*', (route) =>
    route.continue({ url: route.request().url().replace('limit=200', 'limit=20') }),
  )
  await page.goto(`${stage.url}/#ticket=${await stage.client.ticket()}`)
  const heading = page.getByRole('heading', { name: /^Done/ })
  await expect.poll(() => heading.textContent()).toMatch(/^Done \d+\+$/)
  const list = page.getByRole('navigation', { name: 'Sessions' })
  const more = list.getByRole('button', { name: 'Load older sessions' })
  await expect
    .poll(async () => {
      await list.locator('[data-session]').last().hover()
      await page.mouse.wheel(0, 5_000)
      return more.count()
    }, PATIENCE)
    .toBe(1)
  await more.click()
  await expect.poll(() => more.count()).toBe(0)
  expect(await violations(page)).toEqual([])
  expect(await faultsOf(watched)).toEqual([])
})

test('the page names who is signed in, and asks before a link of another principal replaces that', async () => {
  const token = await addToken(stage.client, 'mallory')
  const mallory = new MainstemClient({ baseUrl: stage.url, token })
  const { page } = await signedIn()
  const follow = async () => {
    await page.goto('about:blank')
    await page.goto(`${stage.url}/#ticket=${await mallory.ticket()}`)
    await page.getByText('You are signed in as local, and this link signs in as mallory').waitFor()
  }
  await page.getByTitle('Signed in as local').waitFor()
  await follow()
  await page.getByRole('button', { name: 'Stay signed in' }).click()
  await page.getByTitle('Signed in as local').waitFor()
  await follow()
  await page.getByRole('button', { name: 'Use the link' }).click()
  await page.getByTitle('Signed in as mallory').waitFor()
})

test('a prompt of another principal names its sender, and your own does not', async () => {
  const token = await addToken(stage.client, 'reader')
  await stage.client.addGrant({ to: 'reader', of: 'local' })
  const { id } = await stage.client.begin({ agent: 'echo', prompt: 'whose prompt is this' })
  const own = await signedIn()
  await own.page.goto(`${stage.url}/#/sessions/${id}`)
  await own.page.getByText('whose prompt is this').first().waitFor()
  expect(await own.page.getByText('Sent by local').count()).toBe(0)
  const reader = new MainstemClient({ baseUrl: stage.url, token })
  await own.page.goto('about:blank')
  await own.page.goto(`${stage.url}/#ticket=${await reader.ticket()}`)
  await own.page.getByRole('button', { name: 'Use the link' }).click()
  await own.page.getByTitle('Signed in as reader').waitFor()
  await own.page.goto(`${stage.url}/#/sessions/${id}`)
  await own.page.getByText('Sent by local').waitFor()
})
