import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { loginCode, MainstemClient } from '../../src/client/index.ts'
import { faultsOf, theatre, violations } from './page.ts'

const theatreOf = theatre()

const link = (digest: string) => `#login=${digest}&name=laptop`

test('a person allows a command line after comparing its code, also if they sign in first', async () => {
  const { open, stage } = theatreOf
  const token = randomBytes(32).toString('base64url')
  const digest = createHash('sha256').update(token).digest('hex')
  const command = new MainstemClient({ baseUrl: stage.url, token })
  await expect(command.server()).rejects.toMatchObject({ code: 'unauthorized' })
  const watched = await open({})
  const { page } = watched
  await page.goto(`${stage.url}/${link(digest)}`)
  await page.getByLabel('Or enter a token').fill(stage.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText(loginCode(digest)).waitFor()
  await page.getByText('asks to act as local').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'allow' }).click()
  await page.getByText('You can return to your terminal.').waitFor()
  expect(await command.server()).toMatchObject({ principal: 'local' })
  const other = 'b'.repeat(64)
  await page.goto(`${stage.url}/${link(other)}`)
  await page.getByText(loginCode(other)).waitFor()
  await page.getByRole('button', { name: 'Refuse' }).click()
  await page.getByText('Nothing was changed.').waitFor()
  expect((await command.logins()).map(({ name }) => name)).toEqual(['laptop'])
  expect(await faultsOf(watched)).toEqual([])
})
