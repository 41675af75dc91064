/// <reference lib="esnext.disposable" preserve="true" />
import { createHash } from 'node:crypto'
import type { Client, CustomTypesConfig, Pool, PoolClient, PoolConfig, QueryResult } from 'pg'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { storageFailed } from '../refusals.ts'
import type { Row } from '../row.ts'
import { type Address, parseAddress } from './address.ts'
import { typesOf } from './columns.ts'
import { Backoff, cannotOpen, isTransient, isUnknownName, isUnknownParameter } from './failures.ts'
import { Listener } from './listener.ts'

export interface DatabaseOptions {
  url: string
  /** For the one connection that waits for notifications; `url` by default. It must not lead through a pooler. */
  listenUrl?: string
  /** The maximum number of connections besides that one. */
  connections?: number
  /** The time limit of retries of a statement while the database is unreachable. */
  patienceMs?: number
}

/** Transactions at a time. More of them would only make the groups smaller. */
export const WRITERS = 4
const CONNECTIONS = 10
const PATIENCE_MS = 10_000

const CONNECT_MS = 5_000
const STATEMENT_MS = 10_000
const LOCK_MS = 5_000
/** Later than the server's own timeout: it ends a statement that hangs because the network is gone. */
const ANSWER_MS = STATEMENT_MS + 2_000

/** `@` before the name of a table is replaced by the schema. */
const TABLE = /@(?=[a-z])/g

/**
 * The connections to one database. Nothing here depends on the state of a connection, so that they may lead through a
 * pooler that gives each transaction another one; only the connection of the listener must be direct. Statements have
 * names where no pooler is in between.
 */
export class Database implements AsyncDisposable {
  readonly address: Address
  readonly listener: Listener
  readonly patienceMs: number
  readonly #writers: Pool
  readonly #readers: Pool
  readonly #qualified = new Map<string, string>()
  readonly #names = new Map<string, string>()
  /** No pooler is in between, so that a connection keeps the names of statements. */
  #isDirect: boolean
  readonly #closed = new AbortController()

  private constructor(address: Address, pools: Pools, listener: Listener, patienceMs: number) {
    this.address = address
    this.#writers = pools.writers
    this.#readers = pools.readers
    this.#isDirect = pools.isDirect
    this.listener = listener
    this.patienceMs = patienceMs
  }

  /** Settles when the database responds. Writes nothing. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const address = parseAddress(options.url)
    const direct = options.listenUrl === undefined ? address : parseAddress(options.listenUrl)
    // Loaded late: most servers have their store in a file.
    const { default: pg } = await import('pg')
    const { connections = CONNECTIONS, patienceMs = PATIENCE_MS } = options
    const newPool = (config: PoolConfig, max: number) => quiet(new pg.Pool({ ...config, max }))
    const newPools = (config: PoolConfig) => ({
      writers: newPool(config, WRITERS),
      readers: newPool(config, Math.max(1, connections - WRITERS)),
    })
    const types = typesOf(pg.types)
    const pools = await connected(address, configOf(address, types), newPools)
    const newClient = (): Client => new pg.Client(configOf(direct, types))
    return new Database(address, pools, new Listener(newClient), patienceMs)
  }

  /** Aborts when the database is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  /** One statement, one attempt. It fails with the error of `pg`. */
  async write(sql: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    const query = { text: this.qualify(sql), values: [...values] }
    if (!this.#isDirect) return this.#writers.query<Row>(query)
    try {
      return await this.#writers.query<Row>({ ...query, name: this.#nameOf(query.text) })
    } catch (thrown) {
      // A pooler came in between: nothing was executed.
      if (!isUnknownName(thrown)) throw thrown
      this.#isDirect = false
      return this.#writers.query<Row>(query)
    }
  }

  /** A statement that may be repeated: it is, while the database cannot be reached. */
  async read(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    const query = { text: this.qualify(sql), values: [...values] }
    try {
      return (await this.persist(() => this.#readers.query<Row>(query))).rows
    } catch (thrown) {
      throw storageFailed('cannot read the store', thrown)
    }
  }

  /** Repeats what may be repeated while the database cannot be reached. */
  async persist<T>(attempt: () => Promise<T>): Promise<T> {
    const backoff = new Backoff(this.patienceMs, this.closed)
    for (;;) {
      try {
        return await attempt()
      } catch (thrown) {
        if (!isTransient(thrown) || !(await backoff.wait())) throw thrown
      }
    }
  }

  /** Statements that are committed together; `timeoutMs` of 0 lets them run as long as they need. */
  async transaction<T>(timeoutMs: number, work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#writers.connect()
    let failure: Error | undefined
    try {
      await client.query('BEGIN')
      await client.query(`SET LOCAL statement_timeout = ${timeoutMs}; SET LOCAL lock_timeout = ${timeoutMs}`)
      const done = await work((sql, values = []) => this.#in(client, sql, values, timeoutMs))
      await client.query('COMMIT')
      return done
    } catch (thrown) {
      failure = thrown instanceof Error ? thrown : new Error(String(thrown))
      throw thrown
    } finally {
      // A connection in an unknown state is not used again, which also ends its transaction.
      client.release(failure)
    }
  }

  /**
   * Wakes the listeners of a channel, once for each payload. Losing one in a crash of the server does no harm, so the
   * commit does not wait for the disk.
   */
  async notify(channel: string, payloads: readonly string[]): Promise<void> {
    const calls = payloads.map((payload) => `pg_notify('${channel}', '${payload.replaceAll("'", "''")}')`)
    // One message for the whole transaction: statements without parameters may be sent together.
    await this.#writers.query(`BEGIN; SET LOCAL synchronous_commit = off; SELECT ${calls.join(', ')}; COMMIT`)
  }

  /** Adds a row of this size and takes it back, in one attempt. Without a size, asks whether the database takes writes. */
  async probe(bytes?: number): Promise<void> {
    if (bytes === undefined) {
      const { rows } = await this.#writers.query<Row>('SHOW transaction_read_only')
      if (rows[0]?.transaction_read_only === 'off') return
      throw new MainstemError('storage_failed', `PostgreSQL at ${this.address.shown} is read-only`)
    }
    const insert = this.qualify(`INSERT INTO @setting VALUES ('probe', repeat('x', ${bytes}))`)
    await this.#writers.query(`BEGIN; ${insert}; ROLLBACK`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    await this.listener[Symbol.asyncDispose]()
    await Promise.all([this.#writers.end(), this.#readers.end()])
  }

  qualify(sql: string): string {
    let text = this.#qualified.get(sql)
    if (text === undefined) {
      text = sql.replaceAll(TABLE, `"${this.address.schema}".`)
      if (this.#qualified.size > 1_000) this.#qualified.clear()
      this.#qualified.set(sql, text)
    }
    return text
  }

  /** PostgreSQL parses and plans a statement with a name once for each connection, which takes longer than to execute it. */
  #nameOf(text: string): string {
    let name = this.#names.get(text)
    if (name === undefined) {
      name = createHash('sha1').update(text).digest('hex')
      if (this.#names.size > 1_000) this.#names.clear()
      this.#names.set(text, name)
    }
    return name
  }

  async #in(client: PoolClient, sql: string, values: readonly unknown[], timeoutMs: number): Promise<Row[]> {
    const query_timeout = timeoutMs === 0 ? NEVER_MS : timeoutMs
    const query = { text: this.qualify(sql), values: [...values], query_timeout }
    const { rows } = await client.query<Row>(query)
    return rows
  }
}

/** The longest that a timer can wait: 24 days. */
const NEVER_MS = 2 ** 31 - 1

/** Statements that change nothing. */
export type Reads = Pick<Database, 'read'>

export type Query = (sql: string, values?: readonly unknown[]) => Promise<Row[]>

interface Pools {
  writers: Pool
  readers: Pool
  isDirect: boolean
}

/** A pooler tells its clients another process than the one that answers them. */
async function isDirect(writers: Pool): Promise<boolean> {
  const client = await writers.connect()
  try {
    const { rows } = await client.query<Row>('SELECT pg_backend_pid() AS pid')
    return 'processID' in client && client.processID === rows[0]?.pid
  } finally {
    client.release()
  }
}

/** A lost connection is found by the next statement. An `error` event without a listener would end the process. */
function quiet(pool: Pool): Pool {
  const ignore = () => undefined
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

function configOf({ connection }: Address, types: CustomTypesConfig): PoolConfig {
  return {
    connectionString: connection,
    application_name: 'mainstem',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  }
}

/** A pooler may refuse timeouts at the start of a connection; then only the client has them. */
async function connected(
  address: Address,
  config: PoolConfig,
  newPools: (config: PoolConfig) => Omit<Pools, 'isDirect'>,
): Promise<Pools> {
  const limited = { ...config, statement_timeout: STATEMENT_MS, lock_timeout: LOCK_MS }
  const pools = newPools(limited)
  try {
    return { ...pools, isDirect: await isDirect(pools.writers) }
  } catch (thrown) {
    await Promise.all([pools.writers.end(), pools.readers.end()])
    if (!isUnknownParameter(thrown)) throw cannotOpen(address, thrown)
  }
  return { ...newPools(config), isDirect: false }
}
