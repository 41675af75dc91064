import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { postgresStore } from '../../src/stores/postgres.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { type PostgresServer, startPostgres } from '../../test/postgres/server.ts'
import { POINTS, type Point } from './plan.ts'

/** Where the server that is killed keeps its logs. */
export interface Storage extends AsyncDisposable {
  /** What the configuration of the server says about it. */
  settings: object
  /** Where a server on it can be killed. */
  points: readonly Point[]
  /** The entries of every log as the database has them, without the store's code; by session, in order. */
  logs(): Promise<Map<string, string[]>>
  open(): Promise<Store>
  /** Kills the database and starts it again, where it is a program of its own. */
  restart?(): Promise<void>
}

const LOGS = 'SELECT s.id, l.body FROM log l JOIN session s ON s.n = l.session ORDER BY s.n, l.first'

export function sqliteStorage(home: string): Storage {
  const directory = join(home, 'log')
  return {
    settings: {},
    points: POINTS,
    async logs() {
      using db = new DatabaseSync(join(directory, 'mainstem.db'), { readOnly: true })
      return logsOf(db.prepare(LOGS).all())
    },
    open: () => sqliteStore({ directory, durability: 'process' }),
    async [Symbol.asyncDispose]() {
      // Removed with the home of the server.
    },
  }
}

export async function postgresStorage(): Promise<Storage> {
  return storageOn(await startPostgres())
}

/** The storage in a database that runs. */
export function storageOn(server: PostgresServer): Storage {
  const { url } = server
  return {
    settings: { store: { url } },
    points: POINTS.filter((point) => point !== 'during-checkpoint'),
    async logs() {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      try {
        await client.query('SET search_path = mainstem')
        return logsOf((await client.query(LOGS)).rows)
      } finally {
        await client.end()
      }
    },
    open: () => postgresStore({ url }),
    async restart() {
      await server.kill()
      await server.start()
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function logsOf(rows: readonly Record<string, unknown>[]): Map<string, string[]> {
  const logs = new Map<string, string[]>()
  for (const { id, body } of rows) {
    const log = logs.get(String(id)) ?? []
    log.push(...String(body).split(',\n'))
    logs.set(String(id), log)
  }
  return logs
}
