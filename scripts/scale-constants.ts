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
  transaction: { micros: 270.8, walBytes: 90 },
  append: { micros: 17.6, walBytes: 743 },
  entry: { micros: 2.7, walBytes: 255 },
}

/** The growth of all tables and indexes: 708 bytes for an append of one entry, 306 per entry for one of twenty. */
export const STORED_BYTES = { append: 423, entry: 285 }

/** With raw frames. Measured on a machine with two processors, which the database, the nodes and other programs shared. */
export const BENCH: readonly BenchRow[] = [
  {
    name: '1 session, 1 entry an append',
    nodes: 1,
    entriesPerAppend: 1,
    appendsPerTransaction: 0.63,
    databaseMicros: 500,
    walBytes: 1168,
  },
  {
    name: '1 session, 1 entry an append',
    nodes: 2,
    entriesPerAppend: 1,
    appendsPerTransaction: 0.57,
    databaseMicros: 500,
    walBytes: 1169,
  },
  {
    name: '1 session, 1 entry an append',
    nodes: 3,
    entriesPerAppend: 1,
    appendsPerTransaction: 0.43,
    databaseMicros: 602,
    walBytes: 1182,
  },
  {
    name: '300 sessions, 1 entry an append',
    nodes: 1,
    entriesPerAppend: 1,
    appendsPerTransaction: 82.86,
    databaseMicros: 23,
    walBytes: 992,
  },
  {
    name: '300 sessions, 1 entry an append',
    nodes: 2,
    entriesPerAppend: 1,
    appendsPerTransaction: 37.57,
    databaseMicros: 27,
    walBytes: 994,
  },
  {
    name: '300 sessions, 1 entry an append',
    nodes: 3,
    entriesPerAppend: 1,
    appendsPerTransaction: 21.81,
    databaseMicros: 35,
    walBytes: 1006,
  },
  {
    name: '24 sessions, 20 entries an append',
    nodes: 1,
    entriesPerAppend: 20,
    appendsPerTransaction: 9.14,
    databaseMicros: 5,
    walBytes: 299,
  },
  {
    name: '24 sessions, 20 entries an append',
    nodes: 2,
    entriesPerAppend: 20,
    appendsPerTransaction: 4.59,
    databaseMicros: 7,
    walBytes: 290,
  },
  {
    name: '24 sessions, 20 entries an append',
    nodes: 3,
    entriesPerAppend: 20,
    appendsPerTransaction: 2.76,
    databaseMicros: 8,
    walBytes: 291,
  },
]
