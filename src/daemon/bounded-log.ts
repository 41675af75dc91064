import { appendFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../model/outcome/mainstem-error.ts'

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

/**
 * Appends JSON lines. Synchronous, so that the last line before a crash is kept. A line that cannot be
 * written, because the disk is full, must not end the server: the next line that can states how many are missing.
 */
export class BoundedLog {
  readonly #path: string
  readonly #maxBytes: number
  #missing = 0

  constructor(path: string, maxBytes = MAX_BYTES) {
    this.#path = path
    this.#maxBytes = maxBytes
  }

  append(line: string): void {
    const before = this.#missing === 0 ? '' : missing(this.#missing)
    try {
      rotateLog(this.#path, this.#maxBytes)
      appendFileSync(this.#path, `${before}${line}\n`, { mode: 0o600 })
      this.#missing = 0
    } catch {
      this.#missing++
    }
  }
}

function missing(count: number): string {
  const message = `${count} lines could not be written`
  return `${JSON.stringify({ time: new Date().toISOString(), level: 'warn', message })}\n`
}
