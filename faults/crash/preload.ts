import { DatabaseSync } from 'node:sqlite'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'
import pg from 'pg'
import { die, failpoints } from './plan.ts'

/**
 * Loaded by `--import` into every thread of a server. In the thread that writes it stands around the statements of
 * SQLite, where no part of ours could be put in between.
 */
const isDue = failpoints()
const channel = new BroadcastChannel('crash')
channel.unref()

if (isMainThread) {
  channel.onmessage = die
  standAroundPostgres()
} else stand()

function stand(): void {
  const prepare = DatabaseSync.prototype.prepare
  DatabaseSync.prototype.prepare = function (sql, ...rest) {
    const statement = prepare.call(this, sql, ...rest)
    if (sql === 'COMMIT') {
      const run = statement.run.bind(statement)
      statement.run = () => {
        if (isDue('in-transaction')) die()
        const done = run()
        if (isDue('after-commit-before-ack')) die()
        return done
      }
    }
    if (sql.startsWith('PRAGMA wal_checkpoint')) {
      const get = statement.get.bind(statement)
      statement.get = () => {
        const isLast = isDue('during-checkpoint')
        // The other thread ends us while this one is inside SQLite.
        if (isLast) channel.postMessage(undefined)
        const done = get()
        if (isLast) die()
        return done
      }
    }
    return statement
  }
}

/** Around the statement that commits to PostgreSQL: the server is killed when it was sent, or before its answer counts. */
function standAroundPostgres(): void {
  const query: (...args: unknown[]) => Promise<unknown> = pg.Pool.prototype.query
  const stood = async function (this: pg.Pool, ...args: unknown[]): Promise<unknown> {
    const answer = query.apply(this, args)
    const [asked] = args
    // A statement has a name where no pooler is in between.
    const sql = typeof asked === 'object' && asked !== null && 'text' in asked ? asked.text : asked
    const isCommit = String(sql).includes('begun AS (')
    if (isCommit && isDue('in-transaction')) setImmediate(die)
    const done = await answer
    if (isCommit && isDue('after-commit-before-ack')) die()
    return done
  }
  Object.assign(pg.Pool.prototype, { query: stood })
}
