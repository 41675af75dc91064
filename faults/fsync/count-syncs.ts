import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CHILD = join(import.meta.dirname, 'commit.ts')

/** Whether strace is installed and may trace its own children. */
export async function hasStrace(): Promise<boolean> {
  try {
    await run('strace', ['-o', '/dev/null', 'true'])
    return true
  } catch {
    return false
  }
}

/** Commits entries one by one in a separate process, and counts the fsyncs of SQLite's log meanwhile. */
export async function countSyncs(durability: 'power' | 'process', commits: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'fsync-'))
  const trace = join(directory, 'trace')
  try {
    const traced = ['-f', '-y', '-e', 'trace=fsync,fdatasync', '-o', trace, process.execPath, CHILD]
    await run('strace', [...traced, join(directory, 'log'), durability, String(commits)])
    const calls = readFileSync(trace, 'utf8').split('\n')
    return calls.filter((call) => /sync\(\d+<.*-wal>\)/.test(call)).length
  } finally {
    rmSync(directory, { recursive: true, maxRetries: 3 })
  }
}
