import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { promptFor, script } from '../../test/gateway/puppet.ts'
import { ask, decisions, opened } from './approval-requests.ts'
import { faultsOf, theatre, violations } from './page.ts'
import { requests } from './scenes.ts'

const { stage, signedIn } = theatre()

let count = 0

/** A session with one request, at the size of a small laptop. */
async function asked(
  cues: string,
): Promise<{ page: Page; id: string; card: Locator; watched: Awaited<ReturnType<typeof signedIn>> }> {
  const prompt = promptFor(`Request ${count++}`, cues)
  const { id } = await stage.client.begin({ agent: 'able', cwd: stage.home, prompt })
  await opened(stage.client, id, 1)
  const watched = await signedIn({ viewport: { width: 1024, height: 700 } })
  const { page } = watched
  await page.goto(`${stage.url}/#/sessions/${id}`)
  const card = page.getByRole('region', { name: 'Requests' }).locator('[data-request]')
  await card.waitFor()
  return { page, id, card, watched }
}

const scene = (name: string) => requests(stage.home)[name] ?? ''
const ready = (card: Locator) => card.and(card.page().locator('[data-readiness=ready]')).waitFor()
/** Follows the hint of the card until it is gone. The hint may leave between a look at it and a click on it. */
async function readOn(card: Locator): Promise<void> {
  const hint = card.getByRole('button', { name: /Read to the end/ })
  const follow = () =>
    hint.evaluateAll((found) => {
      for (const button of found) if ('click' in button) button.click()
      return found.length
    })
  await expect.poll(follow).toBe(0)
}

/** What is on the page in the first of these frames is painted in the last one. */
const PAINTED =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))'

const inView = (found: Locator) => found.evaluate((element) => element.getBoundingClientRect().bottom <= 700)

test('a command is coloured, and shown with its directory', async () => {
  const { card, page } = await asked(scene('command'))
  await card.getByText('Run a command').waitFor()
  await card.locator('.hljs-built_in').first().waitFor()
  await card.getByText(`in ${stage.home}`).waitFor()
  await card.getByText('description').waitFor()
  expect(await violations(page)).toEqual([])
})

test('the path of a title is relative to the directory of the session, and whole outside of it', async () => {
  const title = `Read ${stage.home}/src/a.ts, ${stage.home}/../b.ts and /etc/c.ts`
  const { card } = await asked(script(ask('t', { path: 'src/a.ts' }, { title })))
  await card.getByText(`Read src/a.ts, ${stage.home}/../b.ts and /etc/c.ts`, { exact: true }).waitFor()
  await card.getByRole('button', { name: 'Raw' }).click()
  await card.getByText(title, { exact: true }).waitFor()
})

test('an edit is a diff with line numbers and totals, and no line of it is left out', async () => {
  const { card, page } = await asked(scene('edit'))
  await card.getByText('Edit a file').waitFor()
  await card.getByText('src/paginate.ts', { exact: true }).waitFor()
  await card.getByText('+2', { exact: true }).waitFor()
  await card.getByText('−1', { exact: true }).waitFor()
  expect(await card.locator('.diff [data-number="100"]').count()).toBeGreaterThan(0)
  await card.getByText('line 59 of the file').waitFor({ state: 'attached' })
  expect(await card.getAttribute('data-readiness')).toBe('unread')
  await readOn(card)
  await ready(card)
  expect(await violations(page)).toEqual([])
})

test('an edit of which nobody says where it begins has no line numbers', async () => {
  const input = { file_path: 'src/paginate.ts', old_string: 'page * size', new_string: '(page - 1) * size' }
  const { card } = await asked(script(ask('e', input, { tool: 'Edit', toolKind: 'edit' })))
  await card.getByText('part of the file').waitFor()
  await card.getByText('+1', { exact: true }).waitFor()
  expect(await card.locator('[data-number]').count()).toBe(0)
})

test('a new file is a diff against nothing', async () => {
  const { card } = await asked(scene('file'))
  await card.getByText('Write a file').waitFor()
  await card.getByText('new content').waitFor()
  await card.getByText('+6', { exact: true }).waitFor()
  await card.getByText('−0', { exact: true }).waitFor()
})

test('a plan is rendered, with the targets of its links, and is approved or sent back with a wish', async () => {
  const plan =
    '# First\n\n1. read [the notes](https://example.com/hidden "title")\n2. write\n\n[ref]: https://example.com/unseen\n\n&#x202e;end'
  const { card, id, page, watched } = await asked(
    script(ask('p', { plan }, { tool: 'ExitPlanMode', kind: 'plan', title: 'Ready?' })),
  )
  await card.getByRole('heading', { name: 'First' }).waitFor()
  const shown = await card.getByRole('region', { name: 'Input' }).textContent()
  expect(shown).toContain('[the notes](https://example.com/hidden "title")')
  expect(shown).toContain('[ref]: https://example.com/unseen')
  expect(shown).toContain('\\u202eend')
  await card.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  await card.getByRole('button', { name: 'Keep planning…' }).click()
  await card.getByLabel('What should the plan change? (optional)').fill('add tests')
  await page.keyboard.press('Enter')
  await expect.poll(() => decisions(stage.client, id)).toEqual(['p deny'])
  const { entries = [] } = await stage.client.page(id, { types: ['request.resolved'] })
  expect(entries[0]?.event).toMatchObject({ message: 'add tests' })
  expect(await faultsOf(watched)).toEqual([])
})

test('a plan hides nothing beyond the edge of a phone, neither in code nor in a table', async () => {
  const wide = 'x'.repeat(300)
  const plan = `\`\`\`sh\necho ${wide}\n\`\`\`\n\n| ${wide} | b |\n|---|---|\n| \`${wide}\` | d |\n`
  const { card, page } = await asked(script(ask('p', { plan }, { tool: 'ExitPlanMode', kind: 'plan' })))
  await page.setViewportSize({ width: 360, height: 640 })
  const box = card.getByRole('region', { name: 'Input' })
  await box.locator('td').first().waitFor({ state: 'attached' })
  const parts = [box, box.locator('pre'), box.locator('.table-scroll'), box.locator('.code-block')]
  for (const part of parts)
    await expect
      .poll(() => part.evaluate((found) => found.scrollWidth - found.clientWidth))
      .toBeLessThanOrEqual(0)
})

test('a plan shows the cells of a table that it has no column for, and spaces that are not ordinary', async () => {
  const table = (row: string) => `| a | b |\n|:--|---|\n${row}\n`
  const plan = `${table('| 1 | 2 | rm -rf / |')}\n${table('| `x\\|y` | 4 |')}\nrm\u00a0-rf\n`
  const { card } = await asked(script(ask('p', { plan }, { tool: 'ExitPlanMode', kind: 'plan' })))
  const box = card.getByRole('region', { name: 'Input' })
  await box.locator('td').first().waitFor({ state: 'attached' })
  const shown = await box.textContent()
  expect(shown).toContain('| 1 | 2 | rm -rf / |')
  expect(shown).toContain('rm\\u00a0-rf')
  expect(await box.locator('table').count()).toBe(1)
})

test('a card names what an approval for the session allows besides the call', async () => {
  const label = 'Allow for this session: Bash(rm:*)'
  const more = {
    options: [
      { id: 'once', label: 'Allow once', effect: 'allow' as const, scope: 'once' as const },
      { id: 'session', label, effect: 'allow' as const, scope: 'session' as const },
    ],
  }
  const { card } = await asked(script(ask('r', { command: 'rm a' }, more)))
  await card.getByRole('region', { name: 'Input' }).getByText(label).waitFor()
})

test('a call of an MCP tool names its server, and every argument', async () => {
  const { card, page, id } = await asked(scene('mcp'))
  await card.getByText('Call postgres › query').waitFor()
  await page.locator(`[data-session="${id}"]`).getByText('Asks: postgres › query').waitFor()
  // Neither the row nor the card repeats the name of the tool as a title.
  expect(await card.getByText('query', { exact: true }).count()).toBe(1)
  for (const text of ['select count(*) from orders', 'shop', '"rows": 100'])
    await card.getByText(text).waitFor()
})

test('the raw request shows the same fields and explains its digest, and has to be read again', async () => {
  const { card, page, id } = await asked(scene('mcp'))
  const { requests: [request] = [] } = await stage.client.session(id)
  const box = card.getByRole('region', { name: 'Input' })
  const toEnd = async () => {
    await page.evaluate(PAINTED)
    await box.evaluate((region) => region.scrollTo(0, 10_000))
  }
  await toEnd()
  await ready(card)
  await card.getByRole('button', { name: 'Raw' }).click()
  await card.getByText(request?.inputDigest ?? '').waitFor()
  await card.getByText('mcp__postgres__query').waitFor()
  await toEnd()
  await ready(card)
})

test('the buttons of a long list of questions are in reach on a small screen, and say what is missing', async () => {
  const { card, page, id } = await asked(scene('questions'))
  const answer = card.getByRole('button', { name: 'Answer', exact: true })
  expect(await inView(answer)).toBe(true)
  await card.getByText('0 of 3 answered').waitFor()
  await card.getByRole('button', { name: 'Read to the end to answer' }).waitFor()
  for (const name of ['library', 'format', 'scope'])
    await card
      .getByRole('group', { name: new RegExp(`^${name}`) })
      .getByLabel('The first one')
      .check()
  await card.getByText('3 of 3 answered').waitFor()
  expect(await inView(answer)).toBe(true)
  await readOn(card)
  await ready(card)
  await answer.click()
  await expect.poll(() => decisions(stage.client, id)).toEqual(['q answered'])
  await page.goto(`${stage.url}/#/`)
})
