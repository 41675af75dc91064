import { execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { MainstemError } from '../model/mainstem-error.ts'

/** A process as the system reports it. Pid and start time together identify it, because pids are reused. */
export interface ProcessInfo {
  pid: number
  parent: number
  group: number
  /** The session of the process, or its process group where the system does not report sessions. */
  session: number
  started: string
}

/** The processes of this machine. */
export interface ProcessTable {
  /**
   * Lists living processes, without zombies. Calls `marked` with each process that was started with a variable
   * (`NAME=value`) that is a mark.
   */
  list(isMark: (variable: string) => boolean, marked: (pid: number) => void): Promise<ProcessInfo[]>
  /** The current time as a process start time; undefined where start times cannot be compared. */
  now(): number | undefined
  /** Works for zombies too, so that a child that exits immediately can be identified. */
  startOf(pid: number): string | undefined
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

/** Reads this many processes at a time, then yields to the event loop. */
const SLICE = 64

/** How often, and after which pause, a process is read again that is replacing its program. */
const EXEC_READS = 50
const EXEC_PAUSE_MS = 5

/** Reads processes from a `/proc` file system. */
export function procTable(root: string): ProcessTable {
  /** Processes that erased their arguments and variables; they are not read again. */
  const blank = new Set<string>()

  /**
   * Waits for a process that replaces its program: until the new one is loaded the system shows neither arguments
   * nor variables, so that a process without parent and session could not be told apart from a foreign one.
   */
  async function environmentOf({ process, isKernel }: Row): Promise<string> {
    const folder = `${root}/${process.pid}`
    const key = keyOf(process)
    for (let reads = 0; reads < EXEC_READS; reads++) {
      const text = readProc(`${folder}/environ`)
      if (text !== '' || isKernel || blank.has(key)) return text
      // It may have been loaded since the variables were read.
      if (!isReplacing(folder, process)) return readProc(`${folder}/environ`)
      await setTimeout(EXEC_PAUSE_MS)
    }
    blank.add(key)
    return ''
  }

  return {
    async list(isMark, marked) {
      const processes: ProcessInfo[] = []
      const pids = readdirSync(root).filter((name) => /^\d+$/.test(name))
      for (const [index, pid] of pids.entries()) {
        if (index % SLICE === SLICE - 1) await setImmediate()
        const row = parseStat(readProc(`${root}/${pid}/stat`))
        if (!row?.alive) continue
        processes.push(row.process)
        const environment = (await environmentOf(row)).split('\0')
        if (environment.some(isMark)) marked(row.process.pid)
      }
      const alive = new Set(processes.map(keyOf))
      for (const key of blank) if (!alive.has(key)) blank.delete(key)
      return processes
    },
    // Start times and uptime are both counted in hundredths of a second since boot. Rounded, because 8.29 * 100 is less
    // than 829, and a tool that started in the last hundredth would look as if it started later.
    now: () => Math.round(Number.parseFloat(readProc(`${root}/uptime`)) * 100),
    startOf: (pid) => parseStat(readProc(`${root}/${pid}/stat`))?.process.started,
  }
}

/** Whether a process is alive and has no arguments at this moment. */
function isReplacing(folder: string, { started }: ProcessInfo): boolean {
  if (readProc(`${folder}/cmdline`) !== '') return false
  const row = parseStat(readProc(`${folder}/stat`))
  return row?.alive === true && row.process.started === started
}

function keyOf({ pid, started }: ProcessInfo): string {
  return `${pid} ${started}`
}

const linuxTable = procTable('/proc')

/** Empty for a process that is gone or of another user. Rethrows other errors, which do not prove that it is gone. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return ''
    throw thrown
  }
}

interface Row {
  process: ProcessInfo
  alive: boolean
  isKernel?: boolean
}

/** In the flags of a process. */
const KERNEL_THREAD = 0x00200000

function parseStat(stat: string): Row | undefined {
  // The program name is in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  const started = fields[19]
  if (started === undefined) return undefined
  const pid = Number.parseInt(stat, 10)
  const process = { pid, parent: Number(parent), group: Number(group), session: Number(session), started }
  const isKernel = (Number(fields[6]) & KERNEL_THREAD) !== 0
  return { process, alive: state !== 'Z' && state !== 'X', isKernel }
}

const run = promisify(execFile)
const PS_COLUMNS = ['-o', 'pid=', '-o', 'ppid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart=']
const PS_SETTINGS = { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' }, maxBuffer: 16 * 1024 * 1024 }

/** `ps` does not reliably report environments, so no process counts as marked here. */
const psTable: ProcessTable = {
  async list() {
    const { stdout } = await run('ps', ['-A', ...PS_COLUMNS], PS_SETTINGS)
    const rows = stdout.split('\n').map(parsePs)
    return rows.flatMap((row) => (row?.alive ? [row.process] : []))
  },
  now: () => undefined,
  startOf(pid) {
    // Includes our own pid, because `ps` fails when it has no process to list.
    const args = ['-p', `${pid},${process.pid}`, ...PS_COLUMNS]
    const lines = execFileSync('ps', args, { ...PS_SETTINGS, encoding: 'utf8' }).split('\n')
    return lines.map(parsePs).find((row) => row?.process.pid === pid)?.process.started
  },
}

function parsePs(line: string): Row | undefined {
  const [, pid, parent, group, state, started] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)/.exec(line) ?? []
  if (started === undefined) return undefined
  const leader = Number(group)
  const process = { pid: Number(pid), parent: Number(parent), group: leader, session: leader, started }
  return { process, alive: !state?.startsWith('Z') }
}
