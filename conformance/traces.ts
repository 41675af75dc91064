import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The variable that marks every process of a cell; children inherit it. */
export const CELL_MARKER = 'CONFORMANCE_CELL'

export interface Trace {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

/** The processes of a cell that are alive. */
export function processesOf(cell: string): Trace[] {
  const variable = `${CELL_MARKER}=${cell}`
  const isMarked = (pid: number) => read(`/proc/${pid}/environ`).split('\0').includes(variable)
  return pids().flatMap((pid) => (isMarked(pid) ? (traceOf(pid) ?? []) : []))
}

/** The processes that work in a folder. Programs may start tools without the variable that marks their own processes. */
export function processesIn(folder: string): Trace[] {
  return pids().flatMap((pid) => (linkOf(`/proc/${pid}/cwd`) === folder ? (traceOf(pid) ?? []) : []))
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** Undefined for a process that has ended. */
function traceOf(pid: number): Trace | undefined {
  const stat = read(`/proc/${pid}/stat`)
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === undefined || state === '' || state === 'Z' || state === 'X') return undefined
  return { pid, parent: Number(parent), command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }
}

/** Empty for a process that is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** Every file below these folders, with the time of its last change. */
export function filesBelow(folders: readonly string[], but: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  const open = [...folders]
  for (const folder of open) {
    for (const name of names(folder)) {
      const path = join(folder, name)
      if (but.includes(path)) continue
      const status = statSync(path, { throwIfNoEntry: false })
      if (status?.isDirectory()) open.push(path)
      else if (status) found.set(path, status.mtimeMs)
    }
  }
  return found
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The files that are new or changed in the later snapshot. */
export function changedFiles(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) {
  return [...after].filter(([path, time]) => before.get(path) !== time).map(([path]) => path)
}

/** Connections of a cell's processes that lead away from this machine. */
export function connectionsOf(cell: string): string[] {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map(read).join('\n')
  const sockets = new Set(processesOf(cell).flatMap(({ pid }) => socketsOf(pid)))
  return remoteEnds(tables, sockets)
}

function socketsOf(pid: number): string[] {
  return names(`/proc/${pid}/fd`).flatMap(
    (name) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${name}`))?.[1] ?? [],
  )
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** The remote ends of open connections in a table of /proc/net, for these sockets, that are not this machine. */
export function remoteEnds(table: string, sockets: ReadonlySet<string>): string[] {
  return table.split('\n').flatMap((line) => {
    const [, , remote = '', state = '', , , , , , inode = ''] = line.trim().split(/\s+/)
    const isOpen = state === '01' || state === '02'
    return isOpen && sockets.has(inode) && !isLoopback(remote.split(':')[0] ?? '') ? [remote] : []
  })
}

/** Addresses are hexadecimal words in the order of the machine's bytes: 127.x ends an IPv4 one. */
function isLoopback(address: string): boolean {
  if (address.length === 8) return address.endsWith('7F')
  const [first, second, third, last = ''] = address.match(/.{8}/g) ?? []
  if (first !== '00000000' || second !== '00000000') return false
  return third === 'FFFF0000' ? last.endsWith('7F') : third === '00000000' && last === '01000000'
}
