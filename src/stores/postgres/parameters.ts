/** The parameters of one statement, in the order in which they are added. */
export class Parameters {
  readonly values: unknown[] = []
  readonly #pieces: Buffer[] = []
  #bytes = 0

  /** The first parameter has the texts of all rows, so that none of them has to be quoted inside an array. */
  constructor() {
    this.values.push(undefined)
  }

  add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }

  /** Adds a text or bytes to the first parameter; `pos` and `bytes` find it again. */
  piece(body: string | Uint8Array): { pos: number; bytes: number } {
    const piece =
      typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.length)
    const pos = this.#bytes + 1
    this.#pieces.push(piece)
    this.#bytes += piece.length
    return { pos, bytes: piece.length }
  }

  /** Rows as a table: each column is one array. */
  rows<Column extends string>(
    alias: string,
    columns: Readonly<Record<Column, string>>,
    rows: readonly Readonly<Record<Column, unknown>>[],
  ): string {
    const names = Object.keys(columns).filter((name): name is Column => name in columns)
    const arrays = names.map((name) =>
      this.add(
        rows.map((row) => row[name]),
        `${columns[name]}[]`,
      ),
    )
    return `unnest(${arrays.join(', ')}) AS ${alias}(${names.map((name) => `"${name}"`).join(', ')})`
  }

  /** The values, with the first one complete. */
  finish(): unknown[] {
    this.values[0] = Buffer.concat(this.#pieces)
    return this.values
  }
}

/** A piece of the first parameter, of the row with this alias. */
export const PIECE = {
  text: (alias: string, pos = 'pos', bytes = 'bytes') =>
    `convert_from(substring($1::bytea FROM ${alias}.${pos} FOR ${alias}.${bytes}), 'UTF8')`,
  bytes: (alias: string, pos = 'pos', bytes = 'bytes') =>
    `substring($1::bytea FROM ${alias}.${pos} FOR ${alias}.${bytes})`,
}

/** The clock of the database in milliseconds; a test has its own. */
export function nowSql(parameters: Pick<Parameters, 'add'>, now: number | null): string {
  return `coalesce(${parameters.add(now, 'float8')}, extract(epoch FROM clock_timestamp())::float8 * 1000)`
}
