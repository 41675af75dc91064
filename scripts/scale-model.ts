import { pathToFileURL } from 'node:url'
import { BENCH, COSTS, STORED_BYTES } from './scale-constants.ts'

/** The load of one session. These are assumptions: replace them with the figures of your own agents. */
export interface Workload {
  turns: number
  /** For which an agent process runs. */
  secondsPerTurn: number
  entriesPerTurn: number
  /** While an agent streams, entries that come at the same time are one append. */
  entriesPerAppend: number
  /** The busiest hour, as a multiple of the mean. */
  peak: number
}

export const WORKLOAD: Workload = {
  turns: 4,
  secondsPerTurn: 60,
  entriesPerTurn: 250,
  entriesPerAppend: 3,
  peak: 3,
}

/** The machines. */
const AGENTS_PER_NODE = 64
const CONNECTIONS_PER_NODE = 11
/** A node runs this many transactions at a time, and sends this many notifications per second at most. */
const WRITERS = 4
const NOTIFICATIONS_PER_NODE = 50
/** A commit with a synchronous standby or a disk in the network. */
const COMMIT_MS = 5
/** A database is planned for this part of its processors. */
const UTILISATION = 0.5

/** The cost of one entry for the database. */
export function costOfEntry(
  entriesPerAppend: number,
  appendsPerTransaction: number,
): { databaseMicros: number; walBytes: number } {
  const appends = 1 / entriesPerAppend
  const transactions = appends / appendsPerTransaction
  const { transaction, append, entry } = COSTS
  const sum = (of: 'micros' | 'walBytes') => transaction[of] * transactions + append[of] * appends + entry[of]
  return { databaseMicros: sum('micros'), walBytes: sum('walBytes') }
}

/** The capacity that a number of sessions per day needs in the busiest hour. */
export interface Needs {
  sessionsPerSecond: number
  agents: number
  nodes: number
  entriesPerSecond: number
  transactionsPerSecond: number
  notificationsPerSecond: number
  processors: number
  walBytesPerSecond: number
  bytesPerDay: number
  connections: number
}

export function needsOf(sessionsPerDay: number, workload: Workload = WORKLOAD): Needs {
  const { turns, secondsPerTurn, entriesPerTurn, entriesPerAppend, peak } = workload
  const sessionsPerSecond = (sessionsPerDay / 86_400) * peak
  const agents = sessionsPerSecond * turns * secondsPerTurn
  const nodes = Math.max(3, Math.ceil(agents / AGENTS_PER_NODE) + 1)
  const entriesPerSecond = sessionsPerSecond * turns * entriesPerTurn
  const appendsPerSecond = entriesPerSecond / entriesPerAppend
  const notificationsPerSecond = Math.min(appendsPerSecond, nodes * NOTIFICATIONS_PER_NODE)
  const commitsPerSecond = Math.min(appendsPerSecond, nodes * WRITERS * (1_000 / COMMIT_MS))
  const transactionsPerSecond = commitsPerSecond + notificationsPerSecond
  const bytesPerEntry = STORED_BYTES.entry + STORED_BYTES.append / entriesPerAppend
  const cost = costOfEntry(entriesPerAppend, appendsPerSecond / transactionsPerSecond)
  return {
    sessionsPerSecond,
    agents,
    nodes,
    entriesPerSecond,
    transactionsPerSecond,
    notificationsPerSecond,
    processors: (entriesPerSecond * cost.databaseMicros) / 1e6 / UTILISATION,
    walBytesPerSecond: entriesPerSecond * cost.walBytes,
    bytesPerDay: sessionsPerDay * turns * entriesPerTurn * bytesPerEntry,
    connections: nodes * CONNECTIONS_PER_NODE,
  }
}

export const LOADS = [10_000, 100_000, 1_000_000] as const

const ROWS: readonly (readonly [name: string, show: (needs: Needs) => string])[] = [
  ['new sessions per second, busiest hour', (needs) => count(needs.sessionsPerSecond, 1)],
  ['agents that run at the same time', (needs) => count(needs.agents)],
  ['nodes', (needs) => count(needs.nodes)],
  ['entries per second', (needs) => count(needs.entriesPerSecond)],
  ['transactions per second', (needs) => count(needs.transactionsPerSecond)],
  ['notifications per second', (needs) => count(needs.notificationsPerSecond)],
  ['processors of the database', (needs) => count(needs.processors, 1)],
  ['write-ahead log, MB per second', (needs) => count(needs.walBytesPerSecond / 1e6, 1)],
  ['stored, GB per day', (needs) => count(needs.bytesPerDay / 1e9)],
  ['connections', (needs) => count(needs.connections)],
]

/** The tables of docs/scale.md. */
export function needsTable(): string {
  const needs = LOADS.map((load) => needsOf(load))
  const head = ['sessions per day', ...LOADS.map((load) => count(load))]
  return table([head, ...ROWS.map(([name, show]) => [name, ...needs.map(show)])])
}

/** The cost for the database of a transaction, of an append to one session in it, and of an entry. */
export function costTable(): string {
  const { transaction, append, entry } = COSTS
  const row = (name: string, cost: typeof entry) => [name, count(cost.micros, 1), count(cost.walBytes)]
  return table([
    ['cost', 'processor time, µs', 'write-ahead log, bytes'],
    row('a transaction', transaction),
    row('an append', append),
    row('an entry', entry),
  ])
}

/** The measured figures beside the modelled ones, per entry. */
export function benchTable(): string {
  const head = ['appends', 'nodes', 'database, µs', 'model', 'write-ahead log, bytes', 'model']
  const rows = BENCH.map((row) => {
    const model = costOfEntry(row.entriesPerAppend, row.appendsPerTransaction)
    const figures = [row.databaseMicros, model.databaseMicros, row.walBytes, model.walBytes]
    return [row.name, String(row.nodes), ...figures.map((figure) => count(figure))]
  })
  return table([head, ...rows])
}

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function count(value: number, digits = 0): string {
  const rounded = value >= 10 ? 0 : digits
  return value.toLocaleString('en-US', { minimumFractionDigits: rounded, maximumFractionDigits: rounded })
}

/** `node scripts/scale-model.ts` prints the tables. */
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.stdout.write(`${costTable()}\n\n${benchTable()}\n\n${needsTable()}\n`)
}
