import { type ChildProcessByStdio, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { ProcessLaunch } from '../agents/agent.ts'
import { type ErrorCode, MainstemError } from '../model/index.ts'
import type { RunContext } from './driver.ts'
import { findProgram } from './find-program.ts'
import { pinDirectory } from './pin-directory.ts'
import { type SocketPair, socketPair } from './socket-pair.ts'

/** What the system says when a program cannot be started; anything else is `unknown`. */
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

/** Its output is not read from itself. */
export type Child = ChildProcessByStdio<Writable, Readable | null, Readable>

interface Spawned {
  child: Child
  /** What a `data` event brings is good until the next one. */
  stdout: Readable
}

/**
 * Starts a program in a process group of its own and without a shell, or throws why not.
 * `temporary` is a directory for this run alone.
 */
export async function spawnChild(
  launch: ProcessLaunch,
  { cwd, isRealCwd = false }: Pick<RunContext, 'cwd' | 'isRealCwd'>,
  env: Record<string, string>,
  temporary: string,
): Promise<Spawned> {
  // Checked first, because the system would blame the program for a missing directory.
  checkDirectory(cwd)
  const [name, ...args] = launch.argv
  const program = findProgram(name, env.PATH ?? '')
  const pair = await socketPair(join(temporary, 'out'))
  try {
    using place = isRealCwd ? pinDirectory(cwd) : undefined
    const spawned = connected(program, args, { cwd: place?.path ?? cwd, env, detached: true }, pair)
    if (spawned.child.pid !== undefined) return spawned
    // It never started, and tells why a moment later.
    throw await new Promise((resolve) => spawned.child.once('error', resolve))
  } catch (thrown) {
    pair?.ours.destroy()
    throw thrown instanceof MainstemError ? thrown : spawnError(program, thrown)
  } finally {
    pair?.theirs.destroy()
  }
}

function connected(
  program: string,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio,
  pair: SocketPair | undefined,
): Spawned {
  if (pair) {
    const child = spawn(program, args, { ...options, stdio: ['pipe', pair.theirs, 'pipe'] })
    return { child, stdout: pair.ours }
  }
  const child = spawn(program, args, { ...options, stdio: 'pipe' })
  return { child, stdout: child.stdout }
}

/** A failed start in our own words. */
export function spawnError(program: string, thrown: unknown): MainstemError {
  const native = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const code = SPAWN_ERRORS[native] ?? 'unknown'
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return new MainstemError(code, `${program} could not be started: ${reason}`)
}

function checkDirectory(cwd: string): void {
  let isDirectory: boolean
  try {
    isDirectory = statSync(cwd).isDirectory()
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    throw new MainstemError('invalid_request', `cwd ${cwd} cannot be used: ${reason}`)
  }
  if (!isDirectory) throw new MainstemError('invalid_request', `cwd ${cwd} is not a directory`)
}
