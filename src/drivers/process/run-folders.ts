import { createHash } from 'node:crypto'
import { lstatSync, mkdtempSync, readdirSync, readlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessTable } from '../tree/process-table.ts'

/** Host and namespace code, start time and pid of the owner, and the suffix that `mkdtemp` adds. */
const NAME = /^mainstem-([0-9a-z]{4})([0-9a-z]{3})([0-9a-z]+)-\w{6}$/

/**
 * Creates a temporary folder for one run. Its name identifies the owning process, so that a later process can remove
 * it. The name is short, because agents create sockets below it, and socket paths are limited to about 100 characters.
 */
export function makeRunFolder(table: ProcessTable): string {
  const start = code(table.startOf(process.pid) ?? '', 3)
  return mkdtempSync(join(tmpdir(), `mainstem-${hostCode()}${start}${process.pid.toString(36)}-`))
}

/**
 * Lists folders whose owner has exited. Skips those of another host or PID namespace, because their owners are not
 * visible.
 */
export function abandonedFolders(table: ProcessTable): string[] {
  const thisHost = hostCode()
  return readdirSync(tmpdir()).flatMap((name) => {
    const [, where, start = '', pid = ''] = NAME.exec(name) ?? []
    if (where !== thisHost) return []
    const started = table.startOf(Number.parseInt(pid, 36))
    if (started !== undefined && code(started, 3) === start) return []
    const folder = join(tmpdir(), name)
    return isOurs(folder) ? [folder] : []
  })
}

/** Ignores a folder that cannot be removed, such as one without write permission; the system cleans it up. */
export async function removeFolder(folder: string): Promise<void> {
  await Promise.allSettled([rm(folder, { recursive: true, force: true, maxRetries: 2 })])
}

/** Checked, because every user may write to the temporary directory. */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.geteuid?.()
}

function hostCode(): string {
  return code(`${hostname()} ${pidNamespace()}`, 4)
}

/** Empty on systems without namespaces. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

function code(text: string, length: number): string {
  const digest = createHash('sha256').update(text).digest()
  return digest.readBigUInt64BE().toString(36).padStart(length, '0').slice(-length)
}
