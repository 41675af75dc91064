import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { call } from './api.ts'
import { startGateway, type TestGateway } from './start.ts'

/** A repository with one commit below the root of a server. */
function repositoryIn({ deps }: TestGateway, name = 'shop'): string {
  const path = join(deps.roots[0] ?? '', name)
  mkdirSync(join(path, 'inner'), { recursive: true })
  writeFileSync(join(path, 'inner/kept.txt'), 'committed\n')
  git(path, 'init', '-q')
  git(path, 'add', '.')
  git(path, 'commit', '-qm', 'first')
  return path
}

function git(path: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@localhost']
  return execFileSync('git', ['-C', path, ...who, ...args], { encoding: 'utf8' })
}

const begin = (server: TestGateway, body: object, key?: string) =>
  call(server, 'POST /v1/sessions', {
    body: { agent: 'puppet', ...body },
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  })

test('a session works in a new worktree beside the repository, from its last commit', async () => {
  await using server = await startGateway()
  const path = repositoryIn(server)
  writeFileSync(join(path, 'inner/kept.txt'), 'not committed\n')
  const cwd = `${path}-compare-1/puppet/inner`
  expect(await begin(server, { cwd: join(path, 'inner'), worktree: 'compare-1/puppet' })).toMatchObject({
    status: 201,
    body: { cwd },
  })
  expect(readFileSync(join(cwd, 'kept.txt'), 'utf8')).toBe('committed\n')
  expect(git(cwd, 'branch', '--show-current').trim()).toBe('compare-1/puppet')
})

test('many sessions get worktrees of one repository at the same time', async () => {
  await using server = await startGateway()
  const cwd = repositoryIn(server)
  const names = Array.from({ length: 8 }, (_, index) => `compare-3/agent-${index}`)
  const begun = await Promise.all(names.map((worktree) => begin(server, { cwd, worktree })))
  expect(begun.map(({ status }) => status)).toEqual(names.map(() => 201))
})

test('a repeated request returns the same session, and another one needs another branch', async () => {
  await using server = await startGateway()
  const body = { cwd: repositoryIn(server), worktree: 'once' }
  const first = await begin(server, body, 'key')
  expect((await begin(server, body, 'key')).body).toEqual(first.body)
  expect(await begin(server, body)).toMatchObject({
    status: 400,
    body: { field: 'worktree', detail: expect.stringContaining('already exists') },
  })
})

test('a refused session leaves no worktree, no branch and no folder', async () => {
  await using server = await startGateway()
  const path = repositoryIn(server)
  const { status } = await begin(server, { agent: 'nobody', cwd: path, worktree: 'compare-2/nobody' })
  expect(status).toBe(404)
  expect(git(path, 'worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(git(path, 'branch', '--list', 'compare-2/*')).toBe('')
  expect(readdirSync(join(path, '..')).filter((name) => name.startsWith('shop-'))).toEqual([])
})

test('a worktree outside of the roots is refused, also by a link', async () => {
  await using server = await startGateway()
  const [root = ''] = server.deps.roots
  git(root, 'init', '-q')
  git(root, 'commit', '-qm', 'first', '--allow-empty')
  expect(await begin(server, { cwd: root, worktree: 'beside' })).toMatchObject({
    status: 403,
    body: { code: 'forbidden', field: 'worktree' },
  })
  const path = repositoryIn(server)
  symlinkSync('/tmp', `${path}-linked`)
  expect((await begin(server, { cwd: path, worktree: 'linked/away' })).status).toBe(403)
})

test('no hook of the repository runs, and a name that is no branch is refused', async () => {
  await using server = await startGateway()
  const path = repositoryIn(server)
  writeFileSync(join(path, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${path}/hooked\n`, { mode: 0o755 })
  expect((await begin(server, { cwd: path, worktree: 'quiet' })).status).toBe(201)
  expect(existsSync(join(path, 'hooked'))).toBe(false)
  for (const worktree of ['', '-d', '../away', 'a/b/c', 'a//b', 'a b'])
    expect((await begin(server, { cwd: path, worktree })).status, worktree).toBe(400)
})

test('a directory without a repository is refused with the reason of git', async () => {
  await using server = await startGateway()
  const [root = ''] = server.deps.roots
  mkdirSync(join(root, 'plain'))
  expect((await begin(server, { cwd: join(root, 'plain'), worktree: 'new' })).body).toMatchObject({
    field: 'worktree',
    detail: expect.stringContaining('not a git repository'),
  })
})
