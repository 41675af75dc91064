import type { CustomTypesConfig, types as PgTypes } from 'pg'

const INT8 = 20

/** 64-bit integers as numbers: all of ours are counts or sums of 32 bits. */
export function typesOf(types: typeof PgTypes): CustomTypesConfig {
  return {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8 ? Number : types.getTypeParser(oid, format),
  }
}
