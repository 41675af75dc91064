import { once } from 'node:events'
import pg from 'pg'
import { expect, test } from 'vitest'
import { Network } from '../../faults/cluster/network.ts'
import { newSchema } from '../postgres/database.ts'

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
