import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../start.ts'

let server: TestGateway
let root: string
beforeEach(async () => {
  server = await startGateway()
  root = server.root
  mkdirSync(join(root, 'project/deep'), { recursive: true })
  mkdirSync(`${root}-twin`)
  writeFileSync(join(root, 'file'), '')
  symlinkSync('/', join(root, 'out'))
  symlinkSync('/nowhere', join(root, 'dangling'))
  symlinkSync(join(root, 'project'), join(root, 'inside'))
})
afterEach(async () => {
  rmSync(`${root}-twin`, { recursive: true })
  await server[Symbol.asyncDispose]()
})

test.each([
  ['the root', '', ''],
  ['a directory below it', 'project/deep', 'project/deep'],
  ['a way round that stays inside', 'project/deep/../../project', 'project'],
  ['a link that stays inside', 'inside', 'project'],
])('%s is a place to work, by its real path', async (_, path, real) => {
  const response = await server.execute({ cwd: join(root, path) }, { path: '/v1/execute?dialect=mainstem' })
  expect(response.status).toBe(200)
  expect(await response.text()).toContain(JSON.stringify(join(root, real)).replace(/\/"$/, '"'))
})

test.each([
  ['the parent', (root: string) => join(root, '..')],
  ['a way out', (root: string) => `${root}/project/../../`],
  ['a twin by name', (root: string) => `${root}-twin`],
  ['a link out', (root: string) => join(root, 'out/tmp')],
  ['a dangling link', (root: string) => join(root, 'dangling')],
  ['a file', (root: string) => join(root, 'file')],
  ['nothing at all', (root: string) => join(root, 'missing')],
  ['nothing elsewhere', () => '/nowhere'],
  ['another directory', () => '/etc'],
  ['a relative path', () => '.'],
  ['our own directory, by another name', () => '/proc/self/cwd'],
  ['a path with a NUL', (root: string) => `${root}/project\0`],
])('%s is not, and the answer tells nothing about it', async (_, path) => {
  const response = await server.execute({ cwd: path(root) })
  expect(response.status).toBe(403)
  expect(await response.json()).toMatchObject({
    code: 'forbidden',
    field: 'cwd',
    detail: 'cwd: not a directory below the configured roots',
  })
})
