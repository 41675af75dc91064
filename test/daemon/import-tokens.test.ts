import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accessOf } from '../../src/daemon/access.ts'
import { importTokens } from '../../src/daemon/import-tokens.ts'
import { tokenOf } from '../../src/gateway/http/auth.ts'
import { memoryStore } from '../../src/stores/memory.ts'

let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'tokens-'))
})
afterEach(() => rmSync(data, { recursive: true }))

const file = () => join(data, 'tokens.json')
const digestOf = (token: string) => tokenOf('', token).digest
const write = (tokens: unknown) => writeFileSync(file(), JSON.stringify({ tokens }), { mode: 0o600 })

/** Starts a server on a store, as far as its tokens go. */
async function imported(store = memoryStore(), durability: 'power' | 'none' = 'power') {
  const reported: unknown[] = []
  const report = (thrown: unknown) => reported.push(thrown)
  await importTokens(store.access, { data, durability }, report)
  const first = { path: '', token: 'first' }
  const { accessControl } = accessOf(store, first)
  return { store, accessControl, reported, tokens: await accessControl.tokens() }
}

const LOGIN = { name: 'laptop', createdAt: 1_700_000_000_000 }
const FILE = [
  { name: 'ann', digest: digestOf('ann') },
  { name: 'ann', digest: digestOf('laptop'), login: LOGIN },
  { name: 'local', digest: digestOf('own'), login: LOGIN },
  { name: 'gone', digest: digestOf('stray'), login: LOGIN },
]

test('the tokens of a file move to the store, once, with their logins', async () => {
  write(FILE)
  const { tokens, reported } = await imported()
  expect(tokens).toEqual([
    { ...tokenOf('local', 'first', ['operator']) },
    tokenOf('ann', 'ann'),
    ...[
      { ...tokenOf('ann', 'laptop'), login: LOGIN },
      { ...tokenOf('local', 'own', ['operator']), login: LOGIN },
    ].sort((a, b) => (a.digest < b.digest ? -1 : 1)),
  ])
  expect(reported).toEqual([])
  expect([existsSync(file()), existsSync(`${file()}.imported`)]).toEqual([false, true])
})

test('what was removed on one node is not brought back by the file of another', async () => {
  write(FILE)
  const first = await imported()
  const actor = { principal: 'local', client: 'terminal' } as const
  await first.accessControl.removeToken('ann', actor)
  const [own] = (await first.accessControl.tokens()).filter(({ login }) => login)
  if (own?.login) await first.accessControl.removeLogin({ ...own, login: own.login }, actor)
  write(FILE)
  expect((await imported(first.store)).tokens.map(({ principal }) => principal)).toEqual(['local'])
})

test('a node with another token of a name says that it no longer works', async () => {
  write(FILE)
  const { store } = await imported()
  write([
    { name: 'ann', digest: digestOf('other') },
    { name: 'bob', digest: digestOf('bob') },
    { name: 'ann', digest: digestOf('her laptop'), login: LOGIN },
  ])
  const { tokens, reported } = await imported(store)
  expect(tokens.filter(({ principal }) => principal !== 'local')).toHaveLength(3)
  expect(reported).toMatchObject([
    { message: `${file()} has another token of ann than the store, which keeps its own` },
  ])
})

test('a store that ends with the process leaves the file to the next one', async () => {
  write(FILE)
  expect((await imported(memoryStore(), 'none')).tokens).toHaveLength(4)
  expect((await imported(memoryStore(), 'none')).tokens).toHaveLength(4)
})

test('refused is a file that others can read, or that is invalid', async () => {
  expect((await imported()).tokens).toHaveLength(1)
  write(FILE)
  chmodSync(file(), 0o644)
  await expect(imported()).rejects.toMatchObject({ code: 'forbidden' })
  chmodSync(file(), 0o600)
  for (const text of ['', '{}', '{"tokens":[{"name":"x"}]}']) {
    writeFileSync(file(), text)
    await expect(imported()).rejects.toThrow(/is not a valid token list/)
  }
})
