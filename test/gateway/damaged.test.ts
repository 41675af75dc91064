import { rmSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LOCAL, tokenOf } from '../../src/gateway/http/auth.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { database, entries, newDirectory, sessionId, state } from '../stores/sqlite-parts.ts'
import { call } from './api.ts'
import { GUEST, startGateway, TOKEN } from './start.ts'

const id = sessionId(1)
let directory = ''
let store: Store
beforeEach(async () => {
  directory = newDirectory()
  store = await sqliteStore({ directory, durability: 'process' })
  await store.create(id, { entries: entries(id, 1, 4), record: state(id, { principal: 'guest' }) })
  const db = database(directory)
  db.exec("UPDATE session SET record = replace(record, 'guest', 'other')")
  db.close()
})
afterEach(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
})

test('a damaged session is deleted with the token of the server, and with no other', async () => {
  const tokens = async () => [tokenOf(LOCAL, TOKEN, ['operator']), tokenOf('guest', GUEST)]
  await using server = await startGateway({ store, tokens })
  const refused = await call(server, `DELETE /v1/sessions/${id}`, { token: GUEST })
  expect(refused.status).toBe(503)
  expect(refused.body).toMatchObject({ code: 'storage_failed' })
  expect((await call(server, `DELETE /v1/sessions/${id}`)).status).toBe(204)
  expect((await call(server, `GET /v1/sessions/${id}`)).status).toBe(404)
})
