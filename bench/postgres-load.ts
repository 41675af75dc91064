import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import pg from 'pg'

/** The work of a database since its start: processor time of all its processes, WAL and transactions. */
export interface DatabaseLoad {
  cpuMicros: number
  walBytes: number
  transactions: number
}

const TICKS_A_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Reads the counters of a database server on this machine. */
export class LoadMeter implements AsyncDisposable {
  readonly #client: pg.Client
  #postmaster = 0

  static async connect(url: string): Promise<LoadMeter> {
    const server = new URL(url)
    server.search = ''
    const meter = new LoadMeter(new pg.Client({ connectionString: server.href }))
    await meter.#client.connect()
    const [row] = await meter.query('SELECT pg_backend_pid() AS pid')
    meter.#postmaster = Number(statOf(String(row?.pid))[1])
    return meter
  }

  private constructor(client: pg.Client) {
    this.#client = client
  }

  async query(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.#client.query(sql)).rows
  }

  async read(): Promise<DatabaseLoad> {
    // Counters of a backend are published with a delay of up to a second.
    const [row] = await this.query(`SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS wal,
      (SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = current_database()) AS transactions`)
    const cpuMicros = this.#processes().reduce((sum, pid) => sum + cpuOf(pid), 0)
    return { cpuMicros, walBytes: Number(row?.wal), transactions: Number(row?.transactions) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }

  /** Backends of closed connections are counted as children that the postmaster has reaped. */
  #processes(): string[] {
    const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    const pairs = all.split('\n').map((line) => line.trim().split(/\s+/))
    const children = pairs.filter(([, parent]) => Number(parent) === this.#postmaster)
    return [String(this.#postmaster), ...children.map(([pid = '']) => pid)]
  }
}

function cpuOf(pid: string): number {
  // User and system time, of the process and of its children that have ended.
  const ticks = statOf(pid)
    .slice(11, 15)
    .reduce((sum, field) => sum + Number(field), 0)
  return (ticks * 1e6) / TICKS_A_SECOND
}

/** The fields after the name of the program, which may contain spaces. */
function statOf(pid: string): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
}
