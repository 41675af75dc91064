import { COLUMNS, COUNTS } from '../daily-usage.ts'

/** A count that is unknown on both sides stays unknown. */
const added = COUNTS.map(
  (name) => `${name} = coalesce(${name} + excluded.${name}, ${name}, excluded.${name})`,
)

export const CHARGE = `INSERT INTO spent VALUES (?, ?, ?, ?, ?, ?, ${COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT DO UPDATE SET sessions = sessions + excluded.sessions, turns = turns + excluded.turns,
  ${added.join(', ')}, partial = coalesce(partial, excluded.partial)`
