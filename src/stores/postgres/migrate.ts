import { MainstemError } from '../../model/index.ts'
import { unfinishedCopy } from '../copy/copyable.ts'
import { integer, type Row, text } from '../row.ts'
import { fromColumn } from './columns.ts'
import type { Database } from './database.ts'
import { cannotOpen } from './failures.ts'
import { LIVE } from './leases.ts'
import { MIGRATIONS } from './schema.ts'

const OLDEST = 140_000

/** The first version of the schema that has a list of servers. */
const WITH_NODES = 3

/** The version of a server and the state of its database. Changes nothing. */
const FACTS = `SELECT current_setting('server_version_num')::int AS server, current_setting('server_version') AS version,
  current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby,
  current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS "commit", current_user AS "user",
  has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
  coalesce((SELECT has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE')
    FROM pg_namespace WHERE nspname = $1), false) AS "mayUse",
  EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS "hasSchema",
  EXISTS (SELECT FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE s.nspname = $1 AND c.relname = 'migration' AND c.relkind = 'r') AS "isOurs",
  (SELECT count(*) FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE s.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')) AS tables,
  (SELECT count(*) FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE s.nspname <> $1 AND s.nspname <> 'information_schema' AND s.nspname NOT LIKE 'pg\\_%'
    AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT FROM pg_depend d
      WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    AND NOT EXISTS (SELECT FROM pg_class m WHERE m.relnamespace = s.oid AND m.relname = 'migration')) AS others`

export interface Requirements {
  /** Refuse a server that acknowledges commits before they are on disk. */
  durable: boolean
  /** Accept a database that a copy has not finished, to continue that copy. */
  unfinished?: boolean
  migrations?: readonly string[]
}

/** Migrates the schema to the current version. Refuses a foreign or unusable database before any change. */
export async function prepareSchema(database: Database, requirements: Requirements): Promise<void> {
  const { migrations = MIGRATIONS } = requirements
  try {
    const [facts] = await database.read(FACTS, [database.address.schema])
    checkServer(database, facts ?? {}, requirements.durable)
    checkOurs(database, facts ?? {})
    const version = facts?.isOurs === true ? await versionOf(database) : 0
    checkKnown(database, version, migrations)
    if (version < migrations.length) {
      checkRights(database, facts ?? {})
      if (version >= WITH_NODES) await checkStopped(database)
      await migrate(database, migrations)
    }
    if (requirements.unfinished !== true) await checkFinished(database)
  } catch (thrown) {
    throw cannotOpen(database.address, causeOf(thrown))
  }
}

/** Refuses a database without a current and finished store. Changes nothing. */
export async function checkSchema(database: Database): Promise<void> {
  try {
    const [facts] = await database.read(FACTS, [database.address.schema])
    checkServer(database, facts ?? {}, false)
    if (facts?.isOurs !== true) {
      throw new MainstemError('not_found', `there is no store in PostgreSQL at ${database.address.shown}`, {
        advice: 'Correct database and ?schema= in the URL.',
      })
    }
    const version = await versionOf(database)
    checkKnown(database, version, MIGRATIONS)
    if (version < MIGRATIONS.length) {
      const why = `has version ${version} of the schema: start a server once, which makes it version ${MIGRATIONS.length}`
      throw refused(database, why)
    }
    await checkFinished(database)
  } catch (thrown) {
    throw cannotOpen(database.address, causeOf(thrown))
  }
}

/** A server of an older version would change rows without the columns that a migration adds. */
async function checkStopped(database: Database): Promise<void> {
  const live = await database.read(LIVE, [null])
  const [first] = live
  if (!first) return
  const names = live.map((row) => fromColumn(text(row, 'name'))).join(', ')
  const wait = `one that was killed counts as running for ${integer(first, 'seconds')} s more`
  throw refused(database, `is in use by servers of an older version (${names}): stop them first; ${wait}`)
}

async function checkFinished(database: Database): Promise<void> {
  const [row] = await database.read("SELECT value FROM @setting WHERE name = 'copy'")
  if (row) throw unfinishedCopy(`PostgreSQL at ${database.address.shown}`, text(row, 'value'))
}

function checkKnown(database: Database, version: number, { length: known }: readonly string[]): void {
  if (version <= known) return
  const why = `has version ${version} of the schema, this Mainstem knows ${known}: install a newer Mainstem`
  throw refused(database, why)
}

const VERSION = 'SELECT coalesce(max(version), 0) AS version FROM @migration'

/** The version of the schema: the number of migrations that were applied. */
export async function versionOf(database: Database): Promise<number> {
  const [row] = await database.read(VERSION)
  return integer(row ?? {}, 'version')
}

/** Runs the missing migrations in one transaction, by one server at a time. The others then find the current version. */
async function migrate(database: Database, migrations: readonly string[]): Promise<void> {
  await database.transaction(0, async (query) => {
    await query("SELECT pg_advisory_xact_lock(hashtext('mainstem migration ' || $1))", [
      database.address.schema,
    ])
    // Checked first: IF NOT EXISTS needs the right to create a schema even if the schema exists.
    const [found] = await query('SELECT FROM pg_namespace WHERE nspname = $1', [database.address.schema])
    if (!found) await query(`CREATE SCHEMA "${database.address.schema}"`)
    await query(
      'CREATE TABLE IF NOT EXISTS @migration (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
    )
    const [row = {}] = await query(VERSION)
    for (let version = integer(row, 'version'); version < migrations.length; version++) {
      await query(migrations[version] ?? '')
      await query('INSERT INTO @migration (version) VALUES ($1)', [version + 1])
    }
  })
}

function checkServer(database: Database, facts: Row, durable: boolean): void {
  if (integer(facts, 'server') < OLDEST) {
    throw refused(database, `is version ${text(facts, 'version')}: Mainstem needs 14 or newer`)
  }
  if (facts.encoding !== 'UTF8') {
    throw refused(
      database,
      `has encoding ${text(facts, 'encoding')}: create the database with ENCODING 'UTF8'`,
    )
  }
  if (facts.standby === true) throw refused(database, 'is a read-only standby: use the URL of the primary')
  if (durable && (facts.fsync !== 'on' || facts.commit === 'off')) {
    throw refused(
      database,
      'can lose commits in a power cut: set fsync and synchronous_commit to on, or durability to process',
    )
  }
}

function checkOurs(database: Database, facts: Row): void {
  const { schema } = database.address
  if (facts.isOurs === true) return
  if (integer(facts, 'tables') > 0) {
    throw refused(
      database,
      `has a schema ${schema} that is not of Mainstem: choose another with ?schema= in the store URL`,
    )
  }
  if (facts.hasSchema === false && integer(facts, 'others') > 0) {
    throw refused(
      database,
      `has tables of other programs: create a database for Mainstem, or CREATE SCHEMA ${schema} to share this one`,
    )
  }
}

function checkRights(database: Database, { hasSchema, mayUse, mayCreate, user }: Row): void {
  const { schema } = database.address
  if (hasSchema === true && mayUse !== true) {
    throw refused(database, `lacks rights: GRANT USAGE, CREATE ON SCHEMA ${schema} TO "${user}"`)
  }
  if (hasSchema !== true && mayCreate !== true) {
    throw refused(
      database,
      `lacks rights: GRANT CREATE ON DATABASE to "${user}", or create schema ${schema} for it`,
    )
  }
}

function refused({ address }: Database, why: string): MainstemError {
  return new MainstemError('storage_failed', `PostgreSQL at ${address.shown} ${why}`)
}

/** The error of `pg` behind a failure of the store. */
function causeOf(thrown: unknown): unknown {
  return thrown instanceof MainstemError && thrown.cause instanceof Error ? thrown.cause : thrown
}
