import { expect, test } from 'vitest'
import { faultsOf, theatre, violations } from './page.ts'

const { stage, signedIn } = theatre()

test('on a phone without sessions, the list leads to the demo', async () => {
  const watched = await signedIn({ viewport: { width: 390, height: 844 } })
  const { page } = watched
  await page.getByRole('link', { name: 'Start one' }).click()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Start the demo' }).click()
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await page.goto(`${stage.url}/#/new`)
  await page.getByRole('heading', { name: 'New session' }).waitFor()
  expect(await page.getByRole('button', { name: 'Start the demo' }).count()).toBe(0)
  expect(await faultsOf(watched)).toEqual([])
})
