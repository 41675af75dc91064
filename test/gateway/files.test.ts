import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFiles } from '../../src/gateway/access/find-files.ts'
import { call } from './api.ts'
import { startGateway } from './start.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'find-files-')))

beforeAll(() => {
  for (const folder of ['src/routes', 'node_modules/page', '.git'])
    mkdirSync(join(home, folder), { recursive: true })
  const names = [
    'page.md',
    'src/paginate.ts',
    'src/my-page.ts',
    'src/routes/page.ts',
    'node_modules/page/page.js',
    '.git/page',
  ]
  for (const name of names) writeFileSync(join(home, name), '')
  symlinkSync('/etc', join(home, 'elsewhere'))
})

afterAll(() => rmSync(home, { recursive: true }))

test('files are found by words in their paths, names that begin with a word first', async () => {
  expect(await findFiles(home, 'page', 10)).toEqual({
    files: ['page.md', 'src/routes/page.ts', 'src/my-page.ts'],
    complete: true,
  })
  expect((await findFiles(home, 'ROUTES page', 10)).files).toEqual(['src/routes/page.ts'])
  expect((await findFiles(home, '', 2)).files).toEqual(['page.md', 'src/my-page.ts'])
})

test('a search follows no link out of the directory, and a missing directory has no files', async () => {
  expect((await findFiles(home, 'passwd', 10)).files).toEqual([])
  expect(await findFiles(join(home, 'nowhere'), '', 10)).toEqual({ files: [], complete: true })
})

test('the route finds files below the roots alone', async () => {
  await using server = await startGateway()
  const [root = ''] = server.deps.roots
  writeFileSync(join(root, 'found-by-name.txt'), '')
  const find = (cwd: string) => call(server, `GET /v1/files?cwd=${encodeURIComponent(cwd)}&q=found-by`)
  expect(await find(root)).toMatchObject({
    status: 200,
    body: { files: ['found-by-name.txt'], complete: true },
  })
  expect(await find('/etc')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
})
