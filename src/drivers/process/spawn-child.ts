import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import type { ProcessLaunch } from '../../agents/agent.ts'
import { type ErrorCode, MainstemError } from '../../model/index.ts'
import type { RunContext } from '../driver.ts'
import { findProgram } from './find-program.ts'
import { pinDirectory } from './pin-directory.ts'

/** Error codes for failed spawns; any other failure is `unknown`. */
const SPAWN_ERRORS: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'agent_not_found',
  EACCES: 'agent_not_found',
  E2BIG: 'invalid_request',
  ERR_INVALID_ARG_VALUE: 'invalid_request',
  EAGAIN: 'overloaded',
  EMFILE: 'overloaded',
  ENFILE: 'overloaded',
  ENOMEM: 'overloaded',
}

/**
 * Starts a program in its own process group, without a shell. Throws errors that are known immediately; a child without
 * a pid reports others with its `error` event.
 */
export function spawnChild(
  launch: ProcessLaunch,
  { cwd, isRealCwd = false }: Pick<RunContext, 'cwd' | 'isRealCwd'>,
  env: Record<string, string>,
): ChildProcessWithoutNullStreams {
  // The system reports a missing directory as a missing program, so check it first.
  checkDirectory(cwd)
  const [name, ...args] = launch.argv
  const program = findProgram(name, env.PATH ?? '')
  try {
    using pinned = isRealCwd ? pinDirectory(cwd) : undefined
    return spawn(program, args, { cwd: pinned?.path ?? cwd, env, detached: true, stdio: 'pipe' })
  } catch (thrown) {
    throw thrown instanceof MainstemError ? thrown : spawnError(program, thrown)
  }
}

/** Converts a spawn failure to a MainstemError. */
export function spawnError(program: string, thrown: unknown): MainstemError {
  const native = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const code = SPAWN_ERRORS[native] ?? 'unknown'
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return new MainstemError(code, `${program} could not be started: ${reason}`)
}

/** Throws if a directory does not exist. */
export function checkDirectory(cwd: string): void {
  let isDirectory: boolean
  try {
    isDirectory = statSync(cwd).isDirectory()
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    throw new MainstemError('invalid_request', `cwd ${cwd} cannot be used: ${reason}`)
  }
  if (!isDirectory) throw new MainstemError('invalid_request', `cwd ${cwd} is not a directory`)
}
