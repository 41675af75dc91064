import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres.ts'
import { blocksOf, pages } from '../docs/pages.ts'
import { newDatabase, query } from '../postgres/database.ts'
import { entries, readAll, sessionId } from '../stores/sqlite-parts.ts'

const page = pages.find(({ path }) => path === 'docs/operations.md')
const [sql] = page ? blocksOf(page).filter(({ language }) => language === 'sql') : []

test('a server works as the role and in the database that the documentation creates', async () => {
  const name = `role_${randomBytes(6).toString('hex')}`
  const admin = await newDatabase()
  const statements = (sql?.text ?? '').replaceAll('mainstem', name).split(';\n').filter(Boolean)
  expect(statements).toHaveLength(2)
  for (const statement of statements) await query(admin, statement)
  const url = new URL(admin)
  url.username = name
  url.password = 'password'
  url.pathname = name
  const id = sessionId(1)
  await using store = await postgresStore({ url: url.href })
  await store.append(id, { entries: entries(id, 1, 3) })
  expect(await readAll(store, id)).toEqual(entries(id, 1, 3))
  const [role] = await query(admin, 'SELECT rolsuper, rolcreatedb FROM pg_roles WHERE rolname = $1', [name])
  expect(role).toEqual({ rolsuper: false, rolcreatedb: false })
})
