import type { CustomTypesConfig, types as PgTypes } from 'pg'

/**
 * A string as a column of type `text`, which cannot have NUL or half a surrogate pair: those are written as in JSON. Ids
 * and names come from outside, and looking for one that cannot exist must not be a failure of the database.
 */
export function toColumn(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}

export function fromColumn(column: string): string {
  return JSON.parse(`"${column}"`)
}

const INT8 = 20

/** 64-bit integers as numbers: all of ours are counts or sums of 32 bits. */
export function typesOf(types: typeof PgTypes): CustomTypesConfig {
  return {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8 ? Number : types.getTypeParser(oid, format),
  }
}
