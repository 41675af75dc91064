import { expect, test, vi } from 'vitest'
import { promptFor, script, success, text } from '../../test/gateway/puppet.ts'
import { faultsOf, theatre, violations } from './page.ts'

const { stage, signedIn } = theatre()

const PATIENCE = { timeout: 30_000 }
/** More entries than the page reads at first. */
const LONG = 500

const begin = promptFor('Remember the heron', script(text('a', 'I remember the heron.'), success))
const flood = promptFor('Say a lot', script({ flood: { texts: LONG, size: 4 } }, success))

/** A session of an agent with commands of its own, which waits for a prompt. */
async function begun(): Promise<string> {
  const { id } = await stage.client.begin({ agent: 'verbal', cwd: stage.home, prompt: begin })
  await idle(id)
  return id
}

async function idle(id: string): Promise<void> {
  await vi.waitFor(async () => expect((await stage.client.session(id)).status).toBe('idle'), PATIENCE)
}

test('another agent continues from the palette, and the recap that it is told can be opened', async () => {
  const id = await begun()
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('I remember the heron.').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command or session' }).fill('continue with')
  expect(await page.getByRole('option', { name: 'Continue with Verbal puppet' }).count()).toBe(0)
  await page.getByRole('option', { name: 'Continue with Able puppet' }).click()
  await page.getByText('able continues the session of verbal, with a recap of it').waitFor()
  await page.getByText('Recap that the agent is told').click()
  await page.getByText('Last message: I remember the heron.').waitFor()
  expect(await violations(page)).toEqual([])
  expect((await stage.client.session(id)).agent).toBe('able')
  expect(await faultsOf(watched)).toEqual([])
})

test('another agent continues from the settings, which then offer what that agent has', async () => {
  const id = await begun()
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('Settings ▾').click()
  const commands = page.getByRole('list', { name: 'Commands of the agent' })
  await commands.getByRole('button', { name: 'Compact the conversation' }).waitFor()
  await page.getByLabel('Continue with another agent').selectOption('able')
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByText('Able puppet continues.').waitFor()
  await expect
    .poll(() => commands.getByRole('button').allTextContents())
    .toEqual(['Continue in a copy of this session'])
})

test('a long log after the hand-over offers what its last agent has', async () => {
  const id = await begun()
  await stage.client.continueWith(id, { agent: 'able' })
  await stage.client.prompt(id, flood)
  await vi.waitFor(async () => expect((await stage.client.session(id)).head).toBeGreaterThan(LONG), PATIENCE)
  await idle(id)
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('Settings ▾').click()
  const commands = page.getByRole('list', { name: 'Commands of the agent' })
  await commands.getByRole('button').first().waitFor()
  expect(await commands.getByRole('button').allTextContents()).toEqual(['Continue in a copy of this session'])
})

test('a session at work offers no other agent', async () => {
  const { id } = await stage.client.begin({ agent: 'able', prompt: script() })
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('Settings ▾').click()
  await page.getByRole('button', { name: 'End session' }).waitFor()
  expect(await page.getByLabel('Continue with another agent').count()).toBe(0)
})
