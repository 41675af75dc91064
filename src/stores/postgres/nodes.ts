import type { NodeCommand, NodeInfo, NodeStore, RegisteredNode } from '../nodes.ts'
import { nameTaken, storageFailed } from '../refusals.ts'
import { integer, type Row, text } from '../row.ts'
import { fromColumn, toColumn } from './columns.ts'
import { PostgresCommitLog } from './commit-log.ts'
import type { Database } from './database.ts'
import { NOW } from './leases.ts'
import { WakeUps } from './listener.ts'

/** The interval of polls for an outcome. Notifications only shorten the delay. */
const POLL_MS = 1_500
/** A node without a registration is listed for this long. */
const LISTED_MS = 86_400_000

const REGISTER = `INSERT INTO @node AS held (name, process, info, seen, until)
    VALUES ($2, $3, $4, ${NOW}, ${NOW} + $5::float8)
  ON CONFLICT (name) DO UPDATE SET process = excluded.process, info = excluded.info, seen = excluded.seen,
    until = excluded.until WHERE held.process = excluded.process OR held.until <= ${NOW}
  RETURNING name`
const FORGET_NODES = `DELETE FROM @node WHERE seen < ${NOW} - ${LISTED_MS}`
const FORGET_COMMANDS = `DELETE FROM @command WHERE until < ${NOW}`
const LIST = `SELECT name, info, until > ${NOW} AS live, ${NOW} - seen AS ago FROM @node ORDER BY name`
const OWNER = `SELECT s.owner FROM @session s JOIN @owner o ON o.id = s.owner WHERE s.id = $2 AND o.until > ${NOW}`
const ORPHANS = `WITH left_open AS (SELECT session FROM @record WHERE status = 'busy'
    UNION SELECT session FROM @record WHERE asking UNION SELECT session FROM @queued
    UNION SELECT session FROM @record WHERE single AND status <> 'ended')
  SELECT s.id FROM left_open JOIN @session s ON s.n = left_open.session JOIN @record r ON r.session = s.n
  WHERE r.status <> 'ended' AND NOT EXISTS (SELECT FROM @owner o WHERE o.id = s.owner AND o.until > ${NOW})
  ORDER BY s.n LIMIT $2`
const SEND = `INSERT INTO @command (id, node, urgent, body, until) VALUES ($2, $3, $4, $5, ${NOW} + $6::float8)
  ON CONFLICT (id) DO UPDATE SET node = excluded.node, urgent = excluded.urgent, body = excluded.body,
    until = excluded.until, sent = DEFAULT, outcome = NULL`
const PENDING = `SELECT id, node, urgent, body FROM @command
  WHERE node = $2 AND outcome IS NULL AND until > ${NOW} AND id <> ALL($3::text[]) ORDER BY urgent DESC, sent`
const SETTLE = 'UPDATE @command SET outcome = $3 WHERE id = $1 AND node = $2 AND outcome IS NULL'
const OUTCOME = 'SELECT outcome FROM @command WHERE id = $1 AND outcome IS NOT NULL'

/** The servers of a database, and their commands to each other. */
export class Nodes implements NodeStore {
  readonly commits: PostgresCommitLog
  readonly #database: Database
  readonly #now: () => number | null
  readonly #channel: string
  readonly #wakeUps = new WakeUps()

  constructor(database: Database, now: () => number | null) {
    this.#database = database
    this.#now = now
    this.commits = new PostgresCommitLog(database)
    this.#channel = `${database.address.schema}_nodes`
    database.listener.subscribe(this.#channel, (payload) => this.#wakeUps.wake(payload))
  }

  async time(): Promise<number> {
    const [row] = await this.#database.read(`SELECT ${NOW} AS now`, [this.#now()])
    return integer(row ?? {}, 'now')
  }

  async register(name: string, process: string, info: NodeInfo, ttlMs: number): Promise<void> {
    const values = [this.#now(), toColumn(name), toColumn(process), toColumn(JSON.stringify(info)), ttlMs]
    const rows = await this.#write(REGISTER, values)
    if (rows.length === 0) throw nameTaken(name, ttlMs)
    await this.#write(FORGET_NODES, [this.#now()])
    await this.#write(FORGET_COMMANDS, [this.#now()])
  }

  async leave(name: string, process: string): Promise<void> {
    await this.#write('DELETE FROM @node WHERE name = $1 AND process = $2', [
      toColumn(name),
      toColumn(process),
    ])
  }

  async list(): Promise<readonly RegisteredNode[]> {
    return (await this.#database.read(LIST, [this.#now()])).map(nodeOf)
  }

  async ownerOf(session: string): Promise<string | undefined> {
    const [row] = await this.#database.read(OWNER, [this.#now(), toColumn(session)])
    return row && fromColumn(text(row, 'owner'))
  }

  async orphans(limit: number): Promise<readonly string[]> {
    const rows = await this.#database.read(ORPHANS, [this.#now(), limit])
    return rows.map((row) => fromColumn(text(row, 'id')))
  }

  async send({ id, node, urgent, body }: NodeCommand, ttlMs: number): Promise<void> {
    await this.#write(SEND, [this.#now(), toColumn(id), toColumn(node), urgent, toColumn(body), ttlMs])
    this.#notify(`node ${toColumn(node)}`)
  }

  async pending(node: string, except: readonly string[]): Promise<readonly NodeCommand[]> {
    const values = [this.#now(), toColumn(node), except.map(toColumn)]
    return (await this.#database.read(PENDING, values)).map(commandOf)
  }

  async arrived(node: string, signal: AbortSignal): Promise<void> {
    await this.#wakeUps.wait(`node ${toColumn(node)}`, signal)
  }

  async settle(id: string, node: string, outcome: string): Promise<void> {
    await this.#write(SETTLE, [toColumn(id), toColumn(node), toColumn(outcome)])
    this.#notify(`command ${toColumn(id)}`)
  }

  async outcome(id: string, signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      // Armed before reading: an outcome that is stored during the read must wake us.
      const waited = new AbortController()
      const timer = setTimeout(() => waited.abort(), POLL_MS).unref()
      const settled = this.#wakeUps.wait(`command ${toColumn(id)}`, AbortSignal.any([signal, waited.signal]))
      try {
        const [row] = await this.#database.read(OUTCOME, [toColumn(id)])
        if (row) return fromColumn(text(row, 'outcome'))
        if (signal.aborted) return undefined
        await settled
      } finally {
        clearTimeout(timer)
        waited.abort()
      }
    }
  }

  /** Sent after the commit. A poll replaces a lost notification. */
  #notify(payload: string): void {
    this.#wakeUps.wake(payload)
    this.#database.notify(this.#channel, [payload]).catch(() => undefined)
  }

  /** Each statement is idempotent. */
  async #write(sql: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return (await this.#database.persist(() => this.#database.write(sql, values))).rows
    } catch (thrown) {
      throw storageFailed('cannot write to the store', thrown)
    }
  }
}

function nodeOf(row: Row): RegisteredNode {
  const info: NodeInfo = JSON.parse(fromColumn(text(row, 'info')))
  const name = fromColumn(text(row, 'name'))
  return { ...info, name, live: row.live === true, seenMs: Math.max(0, integer(row, 'ago')) }
}

function commandOf(row: Row): NodeCommand {
  return {
    id: fromColumn(text(row, 'id')),
    node: fromColumn(text(row, 'node')),
    urgent: row.urgent === true,
    body: fromColumn(text(row, 'body')),
  }
}
