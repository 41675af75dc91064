import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { mainstem } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { house } from '../sessions/house.ts'

let data = ''
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'audit-'))
})
afterEach(() => rmSync(data, { recursive: true }))

test('a program that keeps its logs in a directory is in the audit trail of the directory', async () => {
  {
    await using stem = mainstem({ data })
    const session = await stem.session({ agent: 'echo', cwd: data })
    await session.prompt('hello').result()
    await session.close()
    await stem.delete(session.id)
  }
  await using store = await sqliteStore({ directory: join(data, 'log') })
  const rows = await store.access.audit({ order: 'oldest', limit: 10 })
  expect(rows.map(({ action, principal, client }) => [action, principal, client])).toEqual([
    ['session.created', 'local', 'library'],
    ['prompt.sent', 'local', 'library'],
    ['session.ended', 'local', 'library'],
    ['session.deleted', 'local', 'library'],
  ])
})

test('a process whose logs end with it keeps no trail, which would only grow', async () => {
  const store = memoryStore()
  const { sessions } = house(store, { audit: false })
  const context = { actor: { principal: 'local', client: 'library' } } as const
  const session = await sessions.create({ agent: 'claude', cwd: '/' }, undefined, context)
  await sessions.delete(session.id, context)
  await sessions.audit.note('session.exported', context.actor)
  expect(await store.access.audit({ order: 'oldest', limit: 10 })).toEqual([])
})
