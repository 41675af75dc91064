import type { DatabaseSync } from 'node:sqlite'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { unfinishedCopy } from '../copy/copyable.ts'
import { integer, text } from '../row.ts'
import { MIGRATIONS } from './migrations.ts'

/** "Main" in ASCII. Identifies our databases. */
export const APPLICATION_ID = 0x4d61696e

/** The journal rows of session `:n` after a frame. Sort by id for their order. */
export const JOURNAL_IDS = `SELECT j.id FROM
  (WITH RECURSIVE part (x) AS
    (SELECT 0 UNION ALL SELECT x + 1 FROM part WHERE x < (SELECT max(id) >> 14 FROM journal))
  SELECT x FROM part) CROSS JOIN journal j
  ON j.id >> 14 = x AND j.session = :n AND j.last > :after`

/** Refuses a database of another program or of a newer version. Changes nothing. */
export function checkOurs(db: DatabaseSync, file: string, migrations = MIGRATIONS): void {
  const version = pragma(db, 'user_version')
  const tables = integer(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get() ?? {}, 'n')
  const isNew = version === 0 && tables === 0
  if (!isNew && pragma(db, 'application_id') !== APPLICATION_ID) {
    throw new MainstemError('storage_failed', `${file} is not a database of Mainstem`)
  }
  if (version > migrations.length) {
    throw new MainstemError(
      'storage_failed',
      `${file} has version ${version}, this Mainstem knows ${migrations.length}: use a newer one`,
    )
  }
}

/** Refuses a database that has to be migrated first, for connections that only read. */
export function checkCurrent(db: DatabaseSync, file: string): void {
  checkOurs(db, file)
  const version = pragma(db, 'user_version')
  if (version === MIGRATIONS.length) return
  throw new MainstemError(
    'storage_failed',
    `${file} has version ${version}: start the server once, which makes it version ${MIGRATIONS.length}`,
  )
}

/** Refuses a database that a copy has not finished. */
export function checkFinished(db: DatabaseSync, file: string): void {
  const row = db.prepare("SELECT value FROM setting WHERE name = 'copy'").get()
  if (row) throw unfinishedCopy(file, text(row, 'value'))
}

export function checkIntact(db: DatabaseSync, file: string): void {
  const found = text(db.prepare('PRAGMA quick_check(1)').get() ?? {}, 'quick_check')
  if (found === 'ok') return
  throw new MainstemError('storage_failed', `${file} is damaged (${found}): restore a backup`)
}

/** Runs the missing steps in one transaction, so that a migration that is interrupted has changed nothing. */
export function migrate(db: DatabaseSync, migrations = MIGRATIONS): void {
  const version = pragma(db, 'user_version')
  if (version === migrations.length) return
  const steps = [
    'BEGIN IMMEDIATE',
    ...migrations.slice(version),
    `PRAGMA application_id = ${APPLICATION_ID}`,
    `PRAGMA user_version = ${migrations.length}`,
    'COMMIT',
  ]
  db.exec(steps.join(';'))
}

function pragma(db: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return integer(db.prepare(`PRAGMA ${name}`).get() ?? {}, name)
}
