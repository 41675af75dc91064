import { appendFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './private-file.ts'

const MAX_BYTES = 1024 * 1024

/** The log of a server that runs in the background. */
export function logIn(directory: string): string {
  return join(directory, 'daemon.log')
}

/** Moves a log that became too large aside, in place of the one before it: two files at most. */
export function rotateLog(path: string, maxBytes = MAX_BYTES): void {
  try {
    if (statSync(path).size > maxBytes) renameSync(path, `${path}.1`)
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT') throw thrown
  }
}

/** Appends a line with its time. Synchronous, so that the last line before a crash is kept. */
export function appendLog(path: string, line: string, at: Date, maxBytes = MAX_BYTES): void {
  rotateLog(path, maxBytes)
  appendFileSync(path, `${at.toISOString()} ${line}\n`, { mode: 0o600 })
}
