import { MainstemError } from '../../../model/outcome/mainstem-error.ts'
import { storageFailed } from '../../refusals.ts'
import type { Row } from '../../row.ts'
import type { Database, Query, Reads } from '../database.ts'

/** A transaction that stays open until `end`. */
interface OpenTransaction {
  readonly query: Query
  end(): Promise<void>
}

/**
 * Begins a transaction with these statements, and keeps it open. A connection that breaks later is reported by the next
 * statement.
 */
export async function openTransaction(
  database: Database,
  begin: (query: Query) => Promise<unknown>,
): Promise<OpenTransaction> {
  const closing = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<Query>()
  const held = database.transaction(0, async (query) => {
    await begin(query)
    begun.resolve(query)
    await closing.promise
  })
  const ended = held.catch((thrown: unknown) => begun.reject(thrown))
  const query = await begun.promise
  const end = () => {
    closing.resolve()
    return ended
  }
  return { query, end }
}

/** Everything in a database as it is at one moment, in a transaction that stays open until the end. */
export class DatabaseSnapshot implements Reads, AsyncDisposable {
  readonly #transaction: OpenTransaction

  private constructor(transaction: OpenTransaction) {
    this.#transaction = transaction
  }

  static async take(database: Database): Promise<DatabaseSnapshot> {
    const transaction = await openTransaction(database, async (query) => {
      await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
      // The first statement fixes what all others see.
      await query('SELECT count(*) FROM @setting')
    })
    return new DatabaseSnapshot(transaction)
  }

  async read(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      return await this.#transaction.query(sql, values)
    } catch (thrown) {
      if (thrown instanceof MainstemError) throw thrown
      throw storageFailed('cannot read the store', thrown)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#transaction.end()
  }
}
