/** One line of `npm run bench -- postgres`: what the database did for each entry. */
export interface BenchRow {
  name: string
  nodes: number
  entriesPerAppend: number
  appendsPerTransaction: number
  databaseMicros: number
  walBytes: number
}

/** What a transaction, an append and an entry cost the database. Derived from the rows with one node. */
export const COSTS = {
  transaction: { micros: 600, walBytes: 300 },
  append: { micros: 100, walBytes: 200 },
  entry: { micros: 20, walBytes: 300 },
  /** Of tables and indexes, for an entry. */
  storedBytes: 450,
}

export const BENCH: readonly BenchRow[] = []
