import { expect, test } from 'vitest'
import { faultsOf, theatre } from './page.ts'

const { stage, signedIn } = theatre()

test('a session lives from its start to its outcome, with an approval and a question', async () => {
  const watched = await signedIn()
  const { page } = watched
  await page.getByRole('button', { name: 'Start the demo' }).click()
  const permission = page.getByRole('article', { name: /^Permission/ })
  await permission.waitFor()
  await permission.getByText('(page - 1) * size').waitFor()
  await permission.getByRole('button', { name: 'Allow once' }).click()
  const question = page.getByRole('article', { name: /^Question/ })
  await question.getByRole('radio', { name: /Fix it too/ }).check()
  await question.getByRole('button', { name: 'Answer', exact: true }).click()
  await permission.getByRole('button', { name: 'Allow for session' }).click()
  await page.getByText('All 14 tests pass.').waitFor()
  await page.getByText('turn 1', { exact: true }).waitFor()
  const [record] = (await stage.client.sessions()).sessions
  expect(record?.lastOutcome).toBe('completed')
  const list = page.locator('[data-last-seq]')
  expect(Number(await list.getAttribute('data-last-seq'))).toBe(record?.head)
  expect(await faultsOf(watched)).toEqual([])
})
