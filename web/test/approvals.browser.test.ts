import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Cue, script } from '../../test/gateway/puppet.ts'
import { ask, decisions, opened } from './approval-requests.ts'
import { faultsOf, theatre } from './page.ts'

const { stage, signedIn } = theatre()

const begin = (...cues: Cue[]) => stage.client.begin({ agent: 'able', prompt: script(...cues) })

const decided = (id: string) => decisions(stage.client, id)

const card = (page: Page, requestId: string) => page.locator(`[data-request="${requestId}"]`)
const ready = (found: Locator) => found.and(found.page().locator('[data-readiness=ready]')).waitFor()
const allowOf = (found: Locator) => found.getByRole('button', { name: 'Allow once' })

/** Waits longer than a card needs to become ready, so that "not ready" is a state and not a moment. */
const settle = (page: Page) => page.evaluate('new Promise((done) => setTimeout(done, 700))')

async function openSession(id: string, requests: number, options?: Parameters<typeof signedIn>[0]) {
  await opened(stage.client, id, requests)
  const watched = await signedIn(options)
  await watched.page.goto(`${stage.url}/#/sessions/${id}`)
  await watched.page.locator('[data-request]').first().waitFor()
  return watched
}

/** Does something in the moment in which a card is on the page. */
const withCard = (requestId: string, action: string) => `
  new MutationObserver((_, observer) => {
    if (!document.querySelector('[data-request="${requestId}"]')) return
    observer.disconnect()
    ${action}
  }).observe(document.body, { childList: true, subtree: true })`

const PRESS_WITH_CARD = (requestId: string) =>
  withCard(
    requestId,
    `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))`,
  )

const BUSY_WITH_CARD = (requestId: string, ms: number) =>
  withCard(
    requestId,
    `console.log('busy')
    for (const from = performance.now(); performance.now() - from < ${ms}; );`,
  )

const COVER = `{
  const cover = document.createElement('div')
  cover.id = 'cover'
  cover.style = 'position: fixed; inset: 0; background: white'
  document.body.append(cover)
}`

const FIVE = ['r1', 'r2', 'r3', 'r4', 'r5']
const commands = FIVE.map((id) => ask(id, { command: `echo ${id}` }))

test('a key answers the selected card on screen, and never one that was scrolled away', async () => {
  const { id } = await begin(...commands)
  const { page } = await openSession(id, 5)
  await page.getByRole('button', { name: 'Show 4 more' }).click()
  await card(page, 'r5').scrollIntoViewIfNeeded()
  await expect.poll(() => page.locator('[aria-current=true][data-readiness=ready]').count()).toBe(1)
  expect(await page.locator('article[aria-current=true]').count()).toBe(1)
  expect(await page.locator('[aria-keyshortcuts=a]').count()).toBe(1)
  const selected = await page.locator('article[aria-current=true]').getAttribute('data-request')
  expect(selected).not.toBe('r1')
  await settle(page)
  await page.keyboard.press('a')
  await expect.poll(() => decided(id)).toEqual([`${selected} allow`])
})

test('a card that is not completely visible has no keys, and a focused button of it does nothing', async () => {
  const { id } = await begin(...commands)
  const { page } = await openSession(id, 5)
  await page.getByRole('button', { name: 'Show 4 more' }).click()
  await ready(card(page, 'r1'))
  await allowOf(card(page, 'r1')).focus()
  await card(page, 'r1').hover()
  await page.mouse.wheel(0, 60)
  await settle(page)
  await page.keyboard.press('Enter')
  await settle(page)
  expect(await decided(id)).toEqual([])
})

test('"Allow all once" unfolds every request, waits until all were shown, and leaves new ones out', async () => {
  const long = Array.from({ length: 60 }, (_, line) => `echo ${line}`).join('\n')
  const late = ask('late', { command: 'rm -rf late' })
  const { id } = await begin(
    ask('r1', { command: 'a' }),
    ask('r2', { command: long }),
    ask('r3', { command: 'c' }),
  )
  const { page } = await openSession(id, 3)
  expect(await page.getByRole('button', { name: /^Allow all/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'Review all' }).click()
  const all = page.getByRole('button', { name: 'Allow all once' })
  await settle(page)
  expect(await all.getAttribute('aria-disabled')).toBe('true')
  await all.click({ force: true })
  expect(await decided(id)).toEqual([])
  await card(page, 'r3').scrollIntoViewIfNeeded()
  await ready(card(page, 'r3'))
  await card(page, 'r2').getByRole('region', { name: 'Input' }).hover()
  await page.mouse.wheel(0, 5_000)
  await ready(card(page, 'r2'))
  await stage.client.steer(id, JSON.stringify(late.say))
  await card(page, 'late').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Allow 3 once' }).click()
  await expect.poll(() => decided(id)).toEqual(['r1 allow', 'r2 allow', 'r3 allow'])
})

test('a batch that could not be sent is read again before it is allowed', async () => {
  const long = Array.from({ length: 60 }, (_, line) => `echo ${line}`).join('\n')
  const { id } = await begin(ask('r1', { command: 'a' }), ask('r2', { command: long }))
  const { page } = await openSession(id, 2)
  const box = card(page, 'r2').getByRole('region', { name: 'Input' })
  const readTo = (top: number) => box.evaluate((region, place) => region.scrollTo({ top: place }), top)
  const readiness = () => card(page, 'r2').getAttribute('data-readiness')
  const all = page.getByRole('button', { name: 'Allow all once' })
  const readAll = async () => {
    await page.getByRole('button', { name: 'Review all' }).click()
    await card(page, 'r1').scrollIntoViewIfNeeded()
    await ready(card(page, 'r1'))
    await card(page, 'r2').scrollIntoViewIfNeeded()
    await readTo(0)
    await settle(page)
    await readTo(10_000)
    await ready(card(page, 'r2'))
    await all.and(page.locator('[aria-disabled=false]')).waitFor()
  }
  await readAll()
  await page.route(/requests\/r/, (route) =>
    route.fulfill({ status: 400, json: { code: 'invalid_request' } }),
  )
  await all.click()
  await page.getByRole('alert').first().waitFor()
  expect(await all.count()).toBe(0)
  await expect.poll(readiness).toBe('unread')
  await page.unroute(/requests\/r/)
  await page.keyboard.press('a')
  await settle(page)
  expect(await decided(id)).toEqual([])
  await readAll()
  await all.click()
  await expect.poll(() => decided(id)).toEqual(['r1 allow', 'r2 allow'])
})

test('a long diff is allowed only after its rest was opened and read to the end', async () => {
  const text = (word: string) => Array.from({ length: 220 }, (_, line) => `${word} ${line}`).join('\n')
  const input = {
    file_path: `/src/${'deep/'.repeat(60)}x.ts`,
    old_string: text('old'),
    new_string: text('new\u202e'),
  }
  const { id } = await begin(ask('edit', input, { tool: 'Edit' }))
  const watched = await openSession(id, 1)
  const { page } = watched
  const edit = card(page, 'edit')
  const box = edit.getByRole('region', { name: 'Input' })
  const toEnd = async () => {
    await box.hover()
    await page.mouse.wheel(0, 100_000)
  }
  await toEnd()
  await settle(page)
  await page.keyboard.press('a')
  await allowOf(edit).click({ force: true })
  expect(await decided(id)).toEqual([])
  await edit.getByRole('button', { name: 'Show the remaining 40 lines' }).click()
  await settle(page)
  await page.keyboard.press('a')
  await settle(page)
  expect(await decided(id)).toEqual([])
  const shown = await box.textContent()
  expect(shown).toContain('new\\u202e 219')
  expect(shown).not.toContain('\u202e')
  expect(await box.evaluate((region) => region.scrollWidth - region.clientWidth)).toBe(0)
  await toEnd()
  await ready(edit)
  await settle(page)
  await page.keyboard.press('a')
  await expect.poll(() => decided(id)).toEqual(['edit allow'])
  expect(await faultsOf(watched)).toEqual([])
})

test('a long command, path or title is wrapped, and its tail must be shown', async () => {
  const tail = 'TAIL; rm -rf /'
  const { id } = await begin(
    ask('long', { command: `${'x'.repeat(20_000)}${tail}` }, { title: 'T'.repeat(3_000) }),
  )
  const { page } = await openSession(id, 1, { viewport: { width: 360, height: 640 } })
  const long = card(page, 'long')
  await settle(page)
  await page.keyboard.press('a')
  expect(await decided(id)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await long.getByRole('region', { name: 'Input' }).hover()
  await page.mouse.wheel(0, 100_000)
  await ready(long)
  await settle(page)
  await page.keyboard.press('a')
  await expect.poll(() => decided(id)).toEqual(['long allow'])
})

test('a key that is held down, or typed into a field, answers nothing', async () => {
  const { id } = await begin(...commands.slice(0, 2))
  const { page } = await openSession(id, 2)
  await page.getByLabel('Prompt').focus()
  await ready(card(page, 'r1'))
  await page.keyboard.type('as')
  await page.getByLabel('Prompt').fill('')
  await page.keyboard.press('Escape')
  expect(await decided(id)).toEqual([])
  // The second and later `down` of a key without an `up` are repeats.
  await page.keyboard.down('d')
  await page.keyboard.up('d')
  await page.keyboard.press('Escape')
  await settle(page)
  await page.keyboard.down('a')
  for (let repeat = 0; repeat < 30; repeat++) await page.keyboard.down('a')
  await expect.poll(() => decided(id)).toEqual(['r1 allow'])
  await ready(card(page, 'r2'))
  for (let repeat = 0; repeat < 30; repeat++) await page.keyboard.down('a')
  await page.keyboard.up('a')
  await settle(page)
  expect(await decided(id)).toEqual(['r1 allow'])
})

test('the second press of a double tap does not answer the next card', async () => {
  const { id } = await begin(...commands.slice(0, 3))
  const { page } = await openSession(id, 3)
  await ready(card(page, 'r1'))
  await settle(page)
  await page.evaluate(PRESS_WITH_CARD('r2'))
  await page.keyboard.press('a')
  await page.keyboard.press('a')
  await card(page, 'r2').waitFor()
  await settle(page)
  expect(await decided(id)).toEqual(['r1 allow'])
})

/** Longer than a card has to stand still. */
const BUSY_MS = 1_500

test('a key that was pressed while a busy page had not drawn the request answers nothing', async () => {
  const { id } = await begin(...commands.slice(0, 2))
  const { page } = await openSession(id, 2)
  await ready(card(page, 'r1'))
  await page.evaluate(BUSY_WITH_CARD('r2', BUSY_MS))
  const busy = page.waitForEvent('console', (message) => message.text() === 'busy')
  const [first] = (await stage.client.session(id)).requests
  await stage.client.answer(id, 'r1', { decision: 'deny', inputDigest: first?.inputDigest ?? '' })
  await busy
  await page.keyboard.press('a')
  await ready(card(page, 'r2'))
  await settle(page)
  expect(await decided(id)).toEqual(['r1 deny'])
  await page.keyboard.press('a')
  await expect.poll(() => decided(id)).toEqual(['r1 deny', 'r2 allow'])
})

test('what lies over the input when its end scrolls by has hidden it', async () => {
  const long = Array.from({ length: 200 }, (_, line) => `echo ${line}`).join('\n')
  const { id } = await begin(ask('r1', { command: long }))
  const { page } = await openSession(id, 1)
  const box = card(page, 'r1').getByRole('region', { name: 'Input' })
  await page.evaluate(COVER)
  await box.evaluate((region) => region.scrollTo({ top: region.scrollHeight }))
  await settle(page)
  await box.evaluate((region) => region.scrollTo({ top: 300 }))
  await page.evaluate(`document.getElementById('cover').remove()`)
  await settle(page)
  await page.keyboard.press('a')
  await settle(page)
  expect(await decided(id)).toEqual([])
})

test('keys pressed in the list of permissions do not allow more', async () => {
  const { id } = await begin(ask('r1', { command: 'x'.repeat(20_000) }))
  const { page } = await openSession(id, 1)
  const list = page.getByLabel('Permissions of this session')
  const approval = async () => (await stage.client.session(id)).policy.approval
  await list.focus()
  for (const key of ['a', 'a', 'End']) await page.keyboard.press(key)
  await settle(page)
  expect(await approval()).toBe('ask')
  expect(await list.inputValue()).toBe('auto-all')
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect(await list.inputValue()).toBe('ask')
  await list.selectOption('Allow everything')
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect.poll(approval).toBe('auto-all')
  // Only a page that knows this takes the next choice for a stricter one.
  await expect.poll(() => list.inputValue()).toBe('auto-all')
  await list.selectOption('Ask me for dangerous calls')
  await expect.poll(approval).toBe('ask-dangerous')
})

test('a card that moved, because a request arrived or the window changed, is not answered by the same click', async () => {
  const { id } = await begin(...commands.slice(0, 2))
  const { page } = await openSession(id, 2)
  await ready(card(page, 'r1'))
  const box = await allowOf(card(page, 'r1')).boundingBox()
  if (!box) throw new Error('the button is visible')
  await page.mouse.move(box.x + 10, box.y + 10)
  // Someone else answers the first: the second takes its place under the pointer.
  const [first] = (await stage.client.session(id)).requests
  await stage.client.answer(id, 'r1', { decision: 'deny', inputDigest: first?.inputDigest ?? '' })
  await card(page, 'r2').waitFor()
  await page.mouse.down()
  await page.mouse.up()
  await page.setViewportSize({ width: 900, height: 700 })
  await page.keyboard.press('a')
  await settle(page)
  expect(await decided(id)).toEqual(['r1 deny'])
  await page.keyboard.press('a')
  await expect.poll(() => decided(id)).toEqual(['r1 deny', 'r2 allow'])
})

test('a request can be denied before it was read', async () => {
  const { id } = await begin(ask('r1', { command: 'x'.repeat(20_000) }))
  const { page } = await openSession(id, 1)
  await settle(page)
  await page.keyboard.press('d')
  await page.getByLabel('Reason for the agent').fill('too long')
  await page.keyboard.press('Enter')
  await expect.poll(() => decided(id)).toEqual(['r1 deny'])
})

test('a call that waits for permission says so, and has no clock', async () => {
  const started: Cue = {
    say: { type: 'tool.started', toolId: 't', name: 'Bash', kind: 'execute', input: { command: 'ls' } },
  }
  const { id } = await begin(started, ask('r1', { command: 'ls' }, { toolId: 't' }))
  const { page } = await openSession(id, 1)
  const tool = page.locator('[data-tool=t]')
  await tool.getByText('waiting for you', { exact: true }).waitFor()
  expect(await tool.textContent()).not.toMatch(/running|\d:\d\d/)
  await allowOf(card(page, 'r1')).click()
  await tool.getByText('running', { exact: true }).waitFor()
})

test('requests of several askers name the sub-agent, and a permission beyond the call', async () => {
  const { id } = await begin(
    { say: { type: 'tool.started', toolId: 't', name: 'Task', kind: 'task', title: 'Look around' } },
    { say: { type: 'subagent.started', id: 'x', toolId: 't', label: 'Look around' } },
    ask('r1', { command: 'ls' }),
    ask(
      'r2',
      { command: 'ls /' },
      { parent: 'x', permission: 'external_directory', data: { always: ['/*'] } },
    ),
  )
  const { page } = await openSession(id, 2)
  await page.getByRole('button', { name: 'Show 1 more' }).click()
  expect(await card(page, 'r1').textContent()).not.toMatch(/sub-agent|external_directory/)
  const inner = card(page, 'r2')
  expect(await inner.getAttribute('aria-label')).toBe('Permission: Bash, sub-agent Look around')
  const shown = await inner.textContent()
  for (const text of ['sub-agent Look around', 'external_directory', '/*']) expect(shown).toContain(text)
})

test('only the scopes that the agent offers have a button and a key', async () => {
  const options = [{ id: 's', label: 'For the session', effect: 'allow', scope: 'session' } as const]
  const { id } = await begin(ask('r1', { command: 'ls' }, { options }))
  const { page } = await openSession(id, 1)
  await settle(page)
  expect(await card(page, 'r1').getByRole('button', { name: 'Allow once' }).count()).toBe(0)
  await page.keyboard.press('a')
  await page.keyboard.press('s')
  await expect.poll(() => decided(id)).toEqual(['r1 allow'])
})
