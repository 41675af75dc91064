import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { shared } from '../server/shared.ts'
import { procTable } from './proc-table.ts'

/** A process as the system reports it. Pid and start time together identify it, because pids are reused. */
export interface ProcessInfo {
  pid: number
  parent: number
  group: number
  /** The session of the process, or its process group where the system does not report sessions. */
  session: number
  started: string
}

/** Identifies one process since the start of the system. */
export type ProcessIdentity = Pick<ProcessInfo, 'pid' | 'started'>

/** A process, and whether it is more than a zombie. */
export interface ProcessRow {
  process: ProcessInfo
  alive: boolean
}

/** What one scan found. */
export interface Snapshot {
  /** Living processes, without zombies. */
  processes: readonly ProcessInfo[]
  /** The variables (`NAME=value`) of processes that mark a run, by pid. */
  marks: ReadonlyMap<number, readonly string[]>
}

/** A file that processes may have open. Its name alone does not identify it. */
export interface OpenFile {
  name: string
  dev: number
  ino: number
}

/** The processes of this machine. */
export interface ProcessTable {
  /**
   * Scans all processes. Reads the marks only of processes that started at `since` or later. One scan serves all calls
   * that were made before it began; it then has the marks that any of them asked for.
   */
  scan(since: number): Promise<Snapshot>
  /** The current time as a process start time; undefined where start times cannot be compared. */
  now(): number | undefined
  /** Works for zombies too, so that a child that exits immediately can be identified. */
  startOf(pid: number): string | undefined
  /** False for a zombie too: it runs no more, even if nobody collects its exit code. */
  isAlive(process: ProcessIdentity): boolean
  /** The variables of one process that mark a run; undefined where the system does not report them. */
  marksOf(pid: number): readonly string[] | undefined
  /** Whether a process has a file open. True also where the system does not report it. */
  hasOpen(pid: number, file: OpenFile): boolean
}

export function processTable(platform: string): ProcessTable {
  if (platform === 'linux') return linuxTable
  if (platform !== 'win32') return psTable
  throw new MainstemError('unsupported_option', 'Agents cannot be started on Windows yet; use WSL.')
}

/** Returns these processes and all their descendants. */
export function withDescendants(roots: readonly ProcessInfo[], all: readonly ProcessInfo[]): ProcessInfo[] {
  const children = Map.groupBy(all, ({ parent }) => parent)
  const tree = new Set<ProcessInfo>(roots)
  // A set iterates over elements added during the iteration, so descendants of every depth are visited.
  for (const { pid } of tree) for (const child of children.get(pid) ?? []) tree.add(child)
  return [...tree]
}

const linuxTable = procTable('/proc')

const run = promisify(execFile)
const PS_COLUMNS = ['-o', 'pid=', '-o', 'ppid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart=']
const PS_SETTINGS = { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' }, maxBuffer: 16 * 1024 * 1024 }

/** `ps` does not reliably report environments, so no process counts as marked here. */
const psTable: ProcessTable = {
  scan: shared(async () => {
    const { stdout } = await run('ps', ['-A', ...PS_COLUMNS], PS_SETTINGS)
    const rows = stdout.split('\n').map(parsePs)
    const processes = rows.flatMap((row) => (row?.alive ? [row.process] : []))
    return { processes, marks: new Map() }
  }),
  now: () => undefined,
  startOf: (pid) => psRow(pid)?.process.started,
  isAlive({ pid, started }) {
    const row = psRow(pid)
    return row?.alive === true && row.process.started === started
  },
  marksOf: () => undefined,
  hasOpen: () => true,
}

function psRow(pid: number): ProcessRow | undefined {
  // Includes our own pid, because `ps` fails when it has no process to list.
  const args = ['-p', `${pid},${process.pid}`, ...PS_COLUMNS]
  const lines = execFileSync('ps', args, { ...PS_SETTINGS, encoding: 'utf8' }).split('\n')
  return lines.map(parsePs).find((row) => row?.process.pid === pid)
}

function parsePs(line: string): ProcessRow | undefined {
  const [, pid, parent, group, state, started] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)/.exec(line) ?? []
  if (started === undefined) return undefined
  const leader = Number(group)
  const process = { pid: Number(pid), parent: Number(parent), group: leader, session: leader, started }
  return { process, alive: !state?.startsWith('Z') }
}
