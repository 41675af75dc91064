import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { promptFor, script, success, text } from '../../test/gateway/puppet.ts'
import { faultsOf, theatre, violations } from './page.ts'

const { stage, signedIn } = theatre()

const edits = () =>
  script(
    text('a', 'I write it.'),
    {
      say: {
        type: 'file.changed',
        path: join(stage.home, 'part/new.ts'),
        change: 'created',
        after: 'one\ntwo\n',
      },
    },
    success,
  )

/** Answers the request for the sessions of a comparison, which names the columns. */
const idsIn = (url: string) => new URL(url).hash.split('=').at(-1)?.split(',') ?? []

test('agents and models run in columns, in one directory, with a table and their diffs', async () => {
  mkdirSync(join(stage.home, 'part'))
  const watched = await signedIn()
  const { page } = watched
  await page.goto(`${stage.url}/#/compare`)
  await page.getByRole('textbox', { name: 'Prompt' }).fill(promptFor('Write it', edits()))
  await page
    .getByRole('textbox', { name: 'Directory' })
    .or(page.getByRole('combobox', { name: 'Directory' }))
    .fill(join(stage.home, 'part'))
  await page.getByRole('checkbox', { name: 'Able puppet' }).check()
  await page.getByRole('textbox', { name: 'Model of Able puppet' }).fill('small-1, large-2')
  await page.getByRole('button', { name: 'Compare' }).click()
  for (const model of ['small-1', 'large-2']) {
    const column = page.getByRole('region', { name: `able · ${model}`, exact: true })
    await column
      .getByRole('region', { name: `Changes of able · ${model}` })
      .getByText('two')
      .waitFor()
    const row = page.getByRole('row', { name: new RegExp(`able · ${model}`) })
    await row.getByText('completed').waitFor()
    await row.getByText('1 file').waitFor()
    await row.getByText('+2').waitFor()
  }
  const records = (await stage.client.sessions({ limit: 2 })).sessions
  expect(records.map(({ options }) => options.model).sort()).toEqual(['large-2', 'small-1'])
  expect(new Set(records.map(({ cwd }) => cwd))).toEqual(new Set([join(stage.home, 'part')]))
  expect(await violations(page)).toEqual([])
  expect(await faultsOf(watched)).toEqual([])
})

test('one refusal leaves the other columns in sight, and says its reason', async () => {
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/compare`)
  await page.getByRole('textbox', { name: 'Prompt' }).fill(promptFor('Write it', edits()))
  await page.getByRole('checkbox', { name: 'Able puppet' }).check()
  await page.getByRole('textbox', { name: 'Model of Able puppet' }).fill('small-1, --not-a-model')
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('region', { name: 'able · small-1', exact: true }).waitFor()
  await page.getByRole('status').getByText('able · --not-a-model:').waitFor()
  expect(idsIn(page.url())).toHaveLength(1)
})

test('on a phone, the table scrolls by itself, and the screen says that it is offline', async () => {
  const begin = (model: string) =>
    stage.client.begin({ agent: 'able', prompt: promptFor('Write it', edits()), options: { model } })
  const ids = await Promise.all(
    ['a-model-with-a-long-name', 'another-one'].map(async (m) => (await begin(m)).id),
  )
  const { page } = await signedIn({ viewport: { width: 390, height: 844 } })
  await page.goto(`${stage.url}/#/compare?ids=${ids.join()}`)
  const results = page.getByRole('region', { name: 'Results' })
  await results.getByText('completed').nth(1).waitFor()
  await results.focus()
  expect(await results.evaluate((found) => found.scrollWidth > found.clientWidth)).toBe(true)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  expect(await page.getByText('offline').filter({ visible: true }).count()).toBe(0)
  await stage.stop()
  await page.getByText('offline').filter({ visible: true }).first().waitFor()
  await stage.start()
  await page.getByText('offline').filter({ visible: true }).first().waitFor({ state: 'hidden' })
})

test('with a worktree for each column, the agents work in copies of the repository beside it', async () => {
  const path = join(stage.home, 'repository')
  mkdirSync(path)
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@localhost']
  const git = (...args: string[]) => execFileSync('git', ['-C', path, ...who, ...args], { encoding: 'utf8' })
  git('init', '-q')
  git('commit', '-qm', 'first', '--allow-empty')
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/compare`)
  await page.getByRole('textbox', { name: 'Prompt' }).fill(promptFor('Write it', edits()))
  await page
    .getByRole('textbox', { name: 'Directory' })
    .or(page.getByRole('combobox', { name: 'Directory' }))
    .fill(path)
  await page.getByRole('checkbox', { name: 'A git worktree for each column' }).check()
  await page.getByRole('checkbox', { name: 'Able puppet' }).check()
  await page.getByRole('textbox', { name: 'Model of Able puppet' }).fill('small-1, large-2')
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('row', { name: /able · small-1 completed/ }).waitFor()
  await page.getByRole('row', { name: /able · large-2 completed/ }).waitFor()
  const records = (await stage.client.sessions({ limit: 2 })).sessions
  for (const { cwd, options } of records) {
    expect(cwd).toMatch(new RegExp(`/repository-compare-[0-9a-f]{6}/able-${options.model}$`))
    expect(git('worktree', 'list')).toContain(cwd)
  }
})

test('a new session works in a worktree of the branch that its form names', async () => {
  const path = join(stage.home, 'repository')
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/new`)
  await page.getByPlaceholder('What should the agent do?').fill('hello')
  await page.getByRole('combobox', { name: /^Agent/ }).selectOption('echo')
  await page
    .getByRole('textbox', { name: 'Directory' })
    .or(page.getByRole('combobox', { name: 'Directory' }))
    .fill(path)
  await page.getByRole('textbox', { name: 'Git worktree' }).fill('fix-pages')
  await page.getByRole('button', { name: 'Start session' }).click()
  await page.getByText('turn 1', { exact: true }).waitFor()
  const [record] = (await stage.client.sessions({ limit: 1 })).sessions
  expect(record?.cwd).toBe(`${path}-fix-pages`)
})
