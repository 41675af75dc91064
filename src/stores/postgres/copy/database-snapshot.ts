import { MainstemError } from '../../../model/outcome/mainstem-error.ts'
import { storageFailed } from '../../refusals.ts'
import type { Row } from '../../row.ts'
import type { Database, Query, Reads } from '../database.ts'

/** Everything in a database as it is at one moment, in a transaction that stays open until the end. */
export class DatabaseSnapshot implements Reads, AsyncDisposable {
  readonly #query: Query
  readonly #close: () => Promise<void>

  private constructor(query: Query, close: () => Promise<void>) {
    this.#query = query
    this.#close = close
  }

  static async take(database: Database): Promise<DatabaseSnapshot> {
    const closing = Promise.withResolvers<void>()
    const taken = Promise.withResolvers<Query>()
    const held = database.transaction(0, async (query) => {
      await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
      // The first statement fixes what all others see.
      await query('SELECT count(*) FROM @setting')
      taken.resolve(query)
      await closing.promise
    })
    // A connection that breaks later is reported by the next statement.
    const ended = held.catch((thrown: unknown) => taken.reject(thrown))
    return new DatabaseSnapshot(await taken.promise, async () => {
      closing.resolve()
      await ended
    })
  }

  async read(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      return await this.#query(sql, values)
    } catch (thrown) {
      if (thrown instanceof MainstemError) throw thrown
      throw storageFailed('cannot read the store', thrown)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
  }
}
