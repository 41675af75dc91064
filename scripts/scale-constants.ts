/** One line of `npm run bench -- postgres`: the work of the database per entry. */
export interface BenchRow {
  name: string
  nodes: number
  entriesPerAppend: number
  /** A transaction commits entries of several sessions, or sends notifications. */
  appendsPerTransaction: number
  databaseMicros: number
  walBytes: number
}

/** The cost of a transaction, an append and an entry for the database, fitted to the lines below. */
export const COSTS = {
  transaction: { micros: 594.5, walBytes: 78 },
  append: { micros: 5.3, walBytes: 643 },
  entry: { micros: 6.4, walBytes: 57 },
}

/** The growth of tables and indexes of the log: 551 bytes for an append of one entry, 93 per entry for one of twenty. */
export const STORED_BYTES = { append: 482, entry: 69 }

/** Measured on a machine with two processors, which the database, the nodes and other programs shared. */
export const BENCH: readonly BenchRow[] = [
  {
    name: '1 session, 1 entry an append',
    nodes: 1,
    entriesPerAppend: 1,
    appendsPerTransaction: 0.6,
    databaseMicros: 1400,
    walBytes: 857,
  },
  {
    name: '1 session, 1 entry an append',
    nodes: 2,
    entriesPerAppend: 1,
    appendsPerTransaction: 0.53,
    databaseMicros: 1250,
    walBytes: 863,
  },
  {
    name: '1 session, 1 entry an append',
    nodes: 3,
    entriesPerAppend: 1,
    appendsPerTransaction: 0.39,
    databaseMicros: 1328,
    walBytes: 868,
  },
  {
    name: '300 sessions, 1 entry an append',
    nodes: 1,
    entriesPerAppend: 1,
    appendsPerTransaction: 93.79,
    databaseMicros: 19,
    walBytes: 697,
  },
  {
    name: '300 sessions, 1 entry an append',
    nodes: 2,
    entriesPerAppend: 1,
    appendsPerTransaction: 41.59,
    databaseMicros: 25,
    walBytes: 701,
  },
  {
    name: '300 sessions, 1 entry an append',
    nodes: 3,
    entriesPerAppend: 1,
    appendsPerTransaction: 26.05,
    databaseMicros: 33,
    walBytes: 697,
  },
  {
    name: '24 sessions, 20 entries an append',
    nodes: 1,
    entriesPerAppend: 20,
    appendsPerTransaction: 9.41,
    databaseMicros: 11,
    walBytes: 90,
  },
  {
    name: '24 sessions, 20 entries an append',
    nodes: 2,
    entriesPerAppend: 20,
    appendsPerTransaction: 4.48,
    databaseMicros: 13,
    walBytes: 90,
  },
  {
    name: '24 sessions, 20 entries an append',
    nodes: 3,
    entriesPerAppend: 20,
    appendsPerTransaction: 2.62,
    databaseMicros: 16,
    walBytes: 90,
  },
]
