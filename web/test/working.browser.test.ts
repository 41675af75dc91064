import { expect, test } from 'vitest'
import { promptFor, script, text } from '../../test/gateway/puppet.ts'
import { ask } from './approval-requests.ts'
import { faultsOf, theatre, violations } from './page.ts'
import { running } from './scenes.ts'

const { stage, signedIn } = theatre()

test('a running session says what it does, in its conversation, in the list and in the title of the tab', async () => {
  const watched = await signedIn()
  const { page } = watched
  const prompt = promptFor('Please run the tests', running)
  const { id } = await stage.client.begin({ agent: 'able', prompt })
  const row = page.locator(`[data-session="${id}"]`)
  await row.getByText('Running npm test').waitFor()
  await row.click()
  const working = page.locator('[data-working]')
  await working.getByText('Running', { exact: true }).waitFor()
  await working.getByText('npm test').waitFor()
  await expect.poll(() => page.title()).toBe('Running npm test · Run the tests · Mainstem')
  expect(await violations(page)).toEqual([])
  // A page that opens later knows the same.
  await page.reload()
  await row.getByText('Running npm test').waitFor()
  await stage.client.interrupt(id)
  await working.waitFor({ state: 'detached' })
  await row.getByText('stopped').waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

test('a session that waits for someone says so, and its call is not shown as running', async () => {
  const { page } = await signedIn()
  const input = { command: 'npm test' }
  const call = { type: 'tool.started', toolId: 'c', name: 'Bash', kind: 'execute', input } as const
  const prompt = script({ say: call }, ask('c', input, { toolId: 'c', toolKind: 'execute' }))
  const { id } = await stage.client.begin({ agent: 'able', prompt: promptFor('Ask me first', prompt) })
  await page.locator(`[data-session="${id}"]`).getByText('Asks: Run c').click()
  await page.locator('[data-working]').getByText('Waiting for you').waitFor()
  await page.locator('[data-tool=c]').getByText('waiting for you').waitFor()
  expect(await page.locator('[data-tool=c]').getByText('running').count()).toBe(0)
})

test('a call of the model that is retried, and a quota, are told apart from work', async () => {
  const { page } = await signedIn()
  const limit = { type: 'limit.reported', kind: 'retry', attempt: 2, of: 5 } as const
  const { id } = await stage.client.begin({ agent: 'able', prompt: script(text('a', 'one'), { say: limit }) })
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.locator('[data-working]').getByText('Retrying a model call').waitFor()
  const used = { type: 'limit.reported', kind: 'quota', resetsAt: Date.now() + 3_600_000 } as const
  const { id: other } = await stage.client.begin({ agent: 'able', prompt: script({ say: used }) })
  await page.goto(`${stage.url}/#/sessions/${other}`)
  await page
    .locator('[data-working]')
    .getByText(/quota until \d\d:\d\d/)
    .waitFor()
})
