import { once } from 'node:events'
import pg from 'pg'
import { expect, test } from 'vitest'
import { Network } from '../../faults/cluster/network.ts'
import { hasNoEntries } from '../../faults/cluster/statements.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { type Batch, FIRST_FENCE } from '../../src/stores/store.ts'
import { newSchema } from '../postgres/database.ts'
import { entries, sessionId, state } from '../stores/sqlite-parts.ts'

const NAME = 'a'.repeat(40)

test('a commit is recognised by its text, also when the connection knows its statement by name', async () => {
  const url = await newSchema()
  await using network = await Network.start(Number(new URL(url).port))
  const client = new pg.Client({ connectionString: network.url(url) })
  client.on('error', () => undefined)
  await client.connect()
  const ask = (value: string) =>
    client.query({ name: NAME, text: 'SELECT $1::text AS told', values: [value] })
  expect((await ask('one')).rows).toEqual([{ told: 'one' }])
  const held = network.cutBefore(
    (statements) => statements.includes('AS told') && statements.includes('three'),
  )
  expect((await ask('two')).rows).toEqual([{ told: 'two' }])
  const third = ask('three')
  await held
  network.deliver()
  expect((await third).rows).toEqual([{ told: 'three' }])
  const ended = once(client, 'end')
  await client.end()
  await ended
})

const ID = sessionId(1)
const JOURNAL = [{ frame: 1, stream: 'stdout', text: '{}' }]
const RECEIPTS = [{ scope: 's', key: 'k', fingerprint: 'f', session: ID }]

test.each<[string, boolean, Batch]>([
  ['raw frames', true, { entries: [], journal: JOURNAL }],
  ['a record', true, { entries: [], record: state(ID) }],
  ['an entry with raw frames', false, { entries: entries(ID, 2, 2), journal: JOURNAL }],
  ['a record with a key', false, { entries: [], record: state(ID), receipts: RECEIPTS }],
])('a commit of %s counts as one without entries: %s', async (_, isWanted, batch) => {
  const url = await newSchema()
  await using network = await Network.start(Number(new URL(url).port))
  await using store = await postgresStore({ url: network.url(url), search: false })
  await store.create(ID, { entries: entries(ID, 1, 1), record: state(ID) }, undefined, {
    owner: 'a',
    ttlMs: 30_000,
  })
  let isHeld = false
  const held = network.cutBefore(hasNoEntries).then(() => {
    isHeld = true
    network.deliver()
  })
  await store.append(ID, batch, FIRST_FENCE)
  if (isWanted) await held
  expect(isHeld).toBe(isWanted)
})
