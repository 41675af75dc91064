import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import { FOLDER_MARKER, RUN_MARKER } from '../process/environment.ts'
import { shared } from '../server/shared.ts'
import type { OpenFile, ProcessInfo, ProcessRow, ProcessTable } from './process-table.ts'

/** Reads this many processes at a time, then yields to the event loop. */
const SLICE = 64

/** How often, and after which pause, a process is read again that is replacing its program. */
const EXEC_READS = 50
const EXEC_PAUSE_MS = 5

/** Reads processes from a `/proc` file system. */
export function procTable(root: string): ProcessTable {
  /** Processes that erased their arguments and variables; they are not read again. */
  const blank = new Set<string>()

  const rowOf = (pid: number) => parseStat(readProc(`${root}/${pid}/stat`))

  /**
   * Waits for a process that replaces its program: until the new one is loaded the system shows neither arguments
   * nor variables, so that a process without parent and session could not be told apart from a foreign one.
   */
  async function environmentOf({ process, isKernel }: ProcRow): Promise<string> {
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
    scan: shared(async (moments) => {
      const since = Math.min(...moments)
      const processes: ProcessInfo[] = []
      const marks = new Map<number, readonly string[]>()
      const pids = readdirSync(root).filter((name) => /^\d+$/.test(name))
      for (const [index, pid] of pids.entries()) {
        if (index % SLICE === SLICE - 1) await setImmediate()
        const row = rowOf(Number(pid))
        if (!row?.alive) continue
        processes.push(row.process)
        if (Number(row.process.started) < since) continue
        marks.set(row.process.pid, marksIn(await environmentOf(row)))
      }
      const alive = new Set(processes.map(keyOf))
      for (const key of blank) if (!alive.has(key)) blank.delete(key)
      return { processes, marks }
    }),
    // Start times and uptime are both counted in hundredths of a second since boot. Rounded, because 8.29 * 100 is less
    // than 829, and a tool that started in the last hundredth would look as if it started later.
    now: () => Math.round(Number.parseFloat(readProc(`${root}/uptime`)) * 100),
    startOf: (pid) => rowOf(pid)?.process.started,
    isAlive({ pid, started }) {
      const row = rowOf(pid)
      return row?.alive === true && row.process.started === started
    },
    marksOf: (pid) => marksIn(readProc(`${root}/${pid}/environ`)),
    hasOpen: (pid, file) => hasOpen(`${root}/${pid}/fd`, file),
  }
}

/** Whether a process is alive and has no arguments at this moment. */
function isReplacing(folder: string, { started }: ProcessInfo): boolean {
  if (readProc(`${folder}/cmdline`) !== '') return false
  const row = parseStat(readProc(`${folder}/stat`))
  return row?.alive === true && row.process.started === started
}

const MARKERS = [`${RUN_MARKER}=`, `${FOLDER_MARKER}=`]

function marksIn(environment: string): string[] {
  return environment.split('\0').filter((variable) => MARKERS.some((marker) => variable.startsWith(marker)))
}

function keyOf({ pid, started }: ProcessInfo): string {
  return `${pid} ${started}`
}

/** Empty for a process that is gone or of another user. Rethrows other errors, which do not prove that it is gone. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    const code = codeOf(thrown)
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return ''
    throw thrown
  }
}

/** Looks at standard output first, because most programs keep it. */
function hasOpen(folder: string, file: OpenFile): boolean {
  try {
    return (
      isOpenAs(`${folder}/1`, file) || readdirSync(folder).some((fd) => isOpenAs(`${folder}/${fd}`, file))
    )
  } catch (thrown) {
    const code = codeOf(thrown)
    if (code === 'ENOENT' || code === 'ESRCH') return false
    // A process of another user: nobody can tell.
    if (code === 'EACCES' || code === 'EPERM') return true
    throw thrown
  }
}

function isOpenAs(descriptor: string, file: OpenFile): boolean {
  try {
    // Looks at no other file: one on a network may block.
    if (!readlinkSync(descriptor).includes(`/${file.name}`)) return false
    const { dev, ino } = statSync(descriptor)
    return dev === file.dev && ino === file.ino
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return false
    throw thrown
  }
}

interface ProcRow extends ProcessRow {
  isKernel: boolean
}

/** In the flags of a process. */
const KERNEL_THREAD = 0x00200000

function parseStat(stat: string): ProcRow | undefined {
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
