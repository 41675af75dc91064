import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import type { VersionQuestion } from '../agents/setup.ts'
import type { Run, RunExit, Timers } from '../drivers/driver.ts'
import { processDriver } from '../drivers/process.ts'
import { NO_VALUES } from '../model/text/large-value.ts'
import { compareVersions } from '../model/version.ts'
import type { Environment } from './paths.ts'

const PATIENCE_MS = 5_000

/** Short, because a program that only prints its version has nothing to lose. */
const GRACES = { SIGINT: 200, SIGTERM: 300, SIGKILL: 5_000 }

/** Longer output is not a version. */
const MAX_CHARS = 64 * 1024

interface VersionQuery {
  /** An absolute path. */
  program: string
  question: VersionQuestion
  /** The source of the allow-listed variables; keys are not among them. */
  environment: Environment
  /** Additional variables for the program. */
  env: Readonly<Record<string, string>>
  platform: string
  timers: Timers
  signal: AbortSignal
}

export interface VersionAnswer {
  version?: string
  /** Why there is no version. */
  note?: string
  /** The program could not print its version, so it will not work either. */
  broken?: boolean
}

/** Runs a program to read its version: with a timeout, bounded output and full cleanup. */
export async function askVersion(query: VersionQuery): Promise<VersionAnswer> {
  const { program, question, environment, platform, timers, signal } = query
  const run = processDriver({ environment, platform, graces: GRACES, maxLineBytes: MAX_CHARS }).start(
    { kind: 'process', argv: [program, ...question.args], env: question.env ?? {}, passEnv: [] },
    // Not in the current directory: a program that reads settings must not find those of a project.
    { runId: randomUUID(), cwd: tmpdir(), env: query.env, values: NO_VALUES },
  )
  const ended = new AbortController()
  const late = stopLate(run, timers, ended.signal, signal)
  await run.write({ kind: 'end' })
  const output = await read(run)
  const exit = await run.exit
  ended.abort()
  const isLate = await late
  const version = findVersion(output.stdout, question.pattern)
  if (version !== undefined) return { version }
  if (isLate) return { note: `it did not print its version within ${PATIENCE_MS / 1000} s`, broken: true }
  return failure(exit, output)
}

/** Stops a run on timeout or abort; returns whether it was stopped. */
async function stopLate(run: Run, timers: Timers, ended: AbortSignal, signal: AbortSignal): Promise<boolean> {
  await timers.sleep(PATIENCE_MS, AbortSignal.any([ended, signal]))
  if (ended.aborted) return false
  await run.stop()
  return true
}

interface ProgramOutput {
  stdout: readonly string[]
  lastError: string
  tooMuch: boolean
}

async function read(run: Run): Promise<ProgramOutput> {
  const stdout: string[] = []
  let lastError = ''
  let chars = 0
  for await (const batch of run.frames) {
    for (const { stream, text } of batch) {
      chars += text.length + 1
      if (chars > MAX_CHARS) void run.stop()
      else if (stream === 'stdout') stdout.push(text.trim())
      else lastError = text.trim() || lastError
    }
  }
  return { stdout, lastError, tooMuch: chars > MAX_CHARS }
}

function findVersion(lines: readonly string[], pattern: RegExp): string | undefined {
  for (const line of lines) {
    const version = pattern.exec(line)?.[1]
    if (version !== undefined) return version
  }
  return undefined
}

function failure(exit: RunExit, { lastError, tooMuch }: ProgramOutput): VersionAnswer {
  if (exit.error) return { note: exit.error.message, broken: true }
  if (tooMuch || exit.code === 0) return { note: 'it printed no readable version' }
  const how = exit.signal === undefined ? `exit code ${exit.code}` : `signal ${exit.signal}`
  const why = lastError === '' ? '' : `: ${lastError.slice(0, 200)}`
  return { note: `it exited with ${how} when queried for its version${why}`, broken: true }
}

/** A version relative to the newest tested one. */
export type Fit = 'tested' | 'newer' | 'older'

export function fitOf(version: string, tested: string): Fit {
  if (version === tested) return 'tested'
  return compareVersions(version, tested) < 0 ? 'older' : 'newer'
}
