import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { inject } from 'vitest'
import { type PostgresServer, startPostgres } from './server.ts'

/** The URL of the server that all tests of a run share, or of the one in `MAINSTEM_TEST_PG`. */
async function sharedServer(): Promise<string> {
  return process.env.MAINSTEM_TEST_PG || (await serverOfRun()).url
}

async function serverOfRun(): Promise<{ url: string; bin: string }> {
  const { url, bin, error } = JSON.parse(await text(connect(inject('postgresSocket'))))
  if (error !== undefined) throw new Error(error)
  return { url, bin }
}

/** A server that no other test uses, with the programs of the one that all share. */
export async function ownServer(): Promise<PostgresServer> {
  return startPostgres((await serverOfRun()).bin)
}

/** The URL of a schema that no other test uses. */
export async function newSchema(): Promise<string> {
  const url = new URL(await sharedServer())
  url.searchParams.set('schema', `test_${randomBytes(6).toString('hex')}`)
  return url.href
}

/** The URL of an empty database, for what concerns more than a schema. */
export async function newDatabase(): Promise<string> {
  const url = new URL(await sharedServer())
  const name = `test_${randomBytes(6).toString('hex')}`
  await query(url.href, `CREATE DATABASE ${name}`)
  url.pathname = name
  return url.href
}

/** Asks the database behind the store's back; `@` before a name stands for the schema in the URL. */
export async function query(url: string, sql: string, values: unknown[] = []): Promise<pg.QueryResultRow[]> {
  const server = new URL(url)
  const schema = server.searchParams.get('schema') ?? 'mainstem'
  server.search = ''
  const client = new pg.Client({ connectionString: server.href })
  await client.connect()
  try {
    return (await client.query(sql.replaceAll(/@(?=[a-z])/g, `"${schema}".`), values)).rows
  } finally {
    await client.end()
  }
}
