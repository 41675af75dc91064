import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statfsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { logIn, rotateLog } from '../../daemon/bounded-log.ts'
import { EXIT_LOCKED } from '../../daemon/exit-codes.ts'
import { privateDirectory } from '../../daemon/private-file.ts'
import { FREE_SPACE, writeFailure } from '../../daemon/write-failure.ts'
import { isErrorCode } from '../../model/outcome/error-table.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { absolutePaths, type LocalFlags } from './data-directory.ts'

/** The same relative path in the sources and in the build. */
const MAIN = fileURLToPath(
  new URL(`../main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
)

/** How a start went: the server exited because another process has the directory, or it has not exited. */
export type StartEnd = 'locked'

export interface StartedDaemon {
  pid: number | undefined
  exited: Promise<StartEnd>
  /** Ends it, because another server answers or because it does not answer. */
  stop(): void
}

/**
 * Starts `mainstem serve` as a detached background process. The promise settles only if it exits: with
 * `locked` if another process has the data directory open, or with the error that it logged.
 */
export async function startDaemon(data: string, flags: LocalFlags): Promise<StartedDaemon> {
  await privateDirectory(data)
  const path = logIn(data)
  const log = await openLog(path)
  const before = readFileSync(path).length
  const { flags: given, environment } = absolutePaths(flags, process.env, process.cwd())
  const config = given.config === undefined ? [] : ['--config', given.config]
  const child = spawn(process.execPath, [MAIN, 'serve', '--background', '--data', data, ...config], {
    detached: true,
    stdio: ['ignore', 'ignore', log],
    cwd: '/',
    env: environment,
  })
  closeSync(log)
  child.unref()
  const exited = once(child, 'exit').then(([code]) => {
    if (code === EXIT_LOCKED) return 'locked' as const
    throw failed(data, path, readFileSync(path).subarray(before).toString('utf8'))
  })
  return { pid: child.pid, exited, stop: () => void child.kill('SIGTERM') }
}

async function openLog(path: string): Promise<number> {
  try {
    rotateLog(path)
    return openSync(path, 'a', 0o600)
  } catch (thrown) {
    throw await writeFailure(path, thrown)
  }
}

/** The line in which a failed start names its reason, and the advice below it. */
const REASON = /^mainstem: (.+) \((\w+)\)\n(.*)$/m

/** Below this, a store cannot be created. */
const FULL_BYTES = 1024 * 1024

function failed(data: string, path: string, text: string): MainstemError {
  const [, message = silence(data), code, advice = isFull(data) ? FREE_SPACE : ''] = REASON.exec(text) ?? []
  return new MainstemError(
    isErrorCode(code) ? code : 'storage_failed',
    `the daemon could not start: ${message}`,
    {
      advice: `${advice === '' ? '' : `${advice} `}Its log is ${path}.`,
    },
  )
}

/** On a full disk, the log has no room for the reason. */
function silence(data: string): string {
  return isFull(data) ? `the disk of ${data} is full` : 'it exited without a message'
}

function isFull(data: string): boolean {
  const { bavail, bsize } = statfsSync(data)
  return bavail * bsize < FULL_BYTES
}
