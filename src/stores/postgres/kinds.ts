/** The condition of the indexes of types. PostgreSQL uses them only where it is repeated. */
export const INDEXED = "l.types IS DISTINCT FROM ''"

/** A table `kind` of all values of `types` that rows have, one step in the index for each; for a recursive WITH. */
export function kinds(where: string, from = ''): string {
  const least = (more: string) =>
    `(SELECT min(l.types) FROM @log l WHERE ${where} ${INDEXED} AND l.types IS NOT NULL ${more})`
  return `kind (types) AS (SELECT ${least('')} ${from && `FROM ${from}`}
    UNION ALL SELECT ${least('AND l.types > kind.types')} FROM kind ${from && `, ${from}`}
      WHERE kind.types IS NOT NULL)`
}
