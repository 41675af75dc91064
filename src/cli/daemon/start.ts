import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statfsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { logIn, rotateLog } from '../../daemon/bounded-log.ts'
import { EXIT_LOCKED } from '../../daemon/exit-codes.ts'
import { FREE_SPACE, privateDirectory } from '../../daemon/private-file.ts'
import { MainstemError } from '../../model/mainstem-error.ts'
import type { LocalFlags } from './data-directory.ts'

/** The same relative path in the sources and in the build. */
const MAIN = fileURLToPath(
  new URL(`../main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
)

/** How a start went: the server exited because another process has the directory, or it has not exited. */
export type StartEnd = 'locked'

/**
 * Starts `mainstem serve` as a detached background process. The promise settles only if it exits: with
 * `locked` if another process has the data directory open, or with the error that it logged.
 */
export async function startDaemon(data: string, flags: LocalFlags): Promise<{ exited: Promise<StartEnd> }> {
  await privateDirectory(data)
  const path = logIn(data)
  rotateLog(path)
  const log = openSync(path, 'a', 0o600)
  const before = readFileSync(path).length
  const config = flags.config === undefined ? [] : ['--config', flags.config]
  const child = spawn(process.execPath, [MAIN, 'serve', '--background', '--data', data, ...config], {
    detached: true,
    stdio: ['ignore', 'ignore', log],
    cwd: '/',
  })
  closeSync(log)
  child.unref()
  const exited = once(child, 'exit').then(([code]) => {
    if (code === EXIT_LOCKED) return 'locked' as const
    throw failed(data, path, readFileSync(path).subarray(before).toString('utf8'))
  })
  return { exited }
}

/** The line in which a failed start names its reason, and the advice below it. */
const REASON = /^mainstem: (.+) \((\w+)\)\n(.*)$/m

/** Below this, a store cannot be created. */
const FULL_BYTES = 1024 * 1024

function failed(data: string, path: string, text: string): MainstemError {
  const [, message = silence(data), , advice = isFull(data) ? FREE_SPACE : ''] = REASON.exec(text) ?? []
  return new MainstemError('storage_failed', `the daemon could not start: ${message}`, {
    advice: `${advice === '' ? '' : `${advice} `}Its log is ${path}.`,
  })
}

/** On a full disk, the log has no room for the reason. */
function silence(data: string): string {
  return isFull(data) ? `the disk of ${data} is full` : 'it exited without a message'
}

function isFull(data: string): boolean {
  const { bavail, bsize } = statfsSync(data)
  return bavail * bsize < FULL_BYTES
}
