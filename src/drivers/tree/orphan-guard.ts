import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The shell reads the list of runs until its input ends, which happens when this process exits for any reason; it then
 * runs the sweep. It ignores signals, because a service manager sends them to all processes at once.
 *
 * A line `! 18.0` sets a deadline: without another one within 18 s, a subshell sweeps the runs listed so far. This also
 * ends the runs of a process that is suspended. The `sleep` of a subshell that was replaced ends by itself.
 *
 * Runs with a third part outlive this process. They are swept at the deadline, or without one after the grace. Until then,
 * another program bounds what they write. Both skip those that another guard has claimed since.
 */
const SHELL_SCRIPT = `
trap '' HUP INT QUIT TERM
set -f
grace=$1
most=$2
bound=$3
shift 3
runs=
timer=
while read -r change run; do
  if [ "$change" = '!' ]; then
    [ -z "$timer" ] || kill -9 "$timer" 2>/dev/null
    timer=
    [ -n "$runs" ] || continue
    ( sleep "$run"; exec "$@" $$ $runs ) &
    timer=$!
    continue
  fi
  kept=
  for known in $runs; do [ "$known" = "$run" ] || kept="$kept $known"; done
  runs=$kept
  [ "$change" = - ] || runs="$runs $run"
done
ending=
lasting=
for run in $runs; do
  case $run in
    *,*,*) lasting="$lasting $run" ;;
    *) ending="$ending $run" ;;
  esac
done
if [ -z "$lasting" ]; then
  [ -z "$timer" ] || kill -9 "$timer" 2>/dev/null
  [ -z "$ending" ] || exec "$@" $$ $ending
  exit
fi
[ -z "$ending" ] || "$@" $$ $ending
"$1" "$bound" "$most" $$ $lasting &
if [ -n "$timer" ]; then wait "$timer"; else sleep "$grace"; fi
exec "$@" $$ $lasting
`

/** A program next to this file, compiled or not. */
const programOf = (name: string) =>
  fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url))

const SWEEP = programOf('orphan-sweep')
const BOUND = programOf('orphan-bound')

/** An agent that is this far ahead of its reader is stopped until it has caught up by half, or until there is one. */
export const AHEAD_BYTES = 64 * 1024 * 1024

/**
 * Terminates the runs of this process if the process dies without terminating them, even by SIGKILL. A shell outside of
 * every run's process group waits for that; it starts with the first run and uses about 2 MB.
 */
export class OrphanGuard {
  readonly #runs = new Set<string>()
  /** The folders of runs that outlive this process, by run. */
  readonly #spools = new Map<string, string>()
  readonly #graceMs: number
  readonly #aheadBytes: number
  /** By the monotonic clock; undefined without a deadline. */
  #deadline: number | undefined
  #shell: ChildProcess | undefined

  /** `graceMs` is how long lasting runs may work without a process that has claimed them, `aheadBytes` how much they may write. */
  constructor(graceMs = 0, aheadBytes = AHEAD_BYTES) {
    this.#graceMs = graceMs
    this.#aheadBytes = aheadBytes
  }

  /**
   * Call this before the first process of the run starts. `spool` is the folder of a run that outlives this process. The
   * returned function removes the run from the guard.
   */
  add(runId: string, folder: string, spool?: string): () => void {
    const parts = spool === undefined ? [runId, folder] : [runId, folder, spool]
    const run = parts.map(encodeURIComponent).join(',')
    if (spool !== undefined) this.#spools.set(run, spool)
    this.#runs.add(run)
    if (this.#shell) this.#send(`+ ${run}`)
    else this.#start()
    this.#claim(spool)
    this.#sendDeadline()
    return () => {
      this.#runs.delete(run)
      this.#spools.delete(run)
      this.#send(`- ${run}`)
    }
  }

  /**
   * Terminates all runs after this time, unless it is called again before. For a server that must end its agents before
   * another one may take over their sessions, also while it is suspended.
   */
  deadline(ms: number): void {
    this.#deadline = performance.now() + ms
    this.#sendDeadline()
  }

  /** Ends the shell, which then terminates the runs that are left. */
  close(): void {
    this.#shell?.stdin?.end()
  }

  /** The shell sweeps the runs that it knows when it reads the line, so each new run needs one. */
  #sendDeadline(): void {
    if (this.#deadline === undefined || this.#runs.size === 0) return
    const seconds = Math.max(0, this.#deadline - performance.now()) / 1000
    this.#send(`! ${seconds.toFixed(1)}`)
  }

  /** From now on this guard decides about the run, and no earlier one. */
  #claim(spool: string | undefined): void {
    const pid = this.#shell?.pid
    if (spool !== undefined && pid !== undefined)
      writeFileSync(join(spool, CLAIM), String(pid), { mode: 0o600 })
  }

  #start(): void {
    const grace = (this.#graceMs / 1000).toFixed(1)
    const programs = [String(this.#aheadBytes), BOUND, process.execPath, SWEEP]
    const shell = spawn('/bin/sh', ['-c', SHELL_SCRIPT, 'mainstem-guard', grace, ...programs], {
      // Detached, so that no signal to the process group of an agent or of this process reaches the shell.
      detached: true,
      cwd: '/',
      env: { TMPDIR: tmpdir() },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#shell = shell
    // If the shell cannot start or is killed, the next run starts another one, and the sweep at the next start cleans
    // up.
    const forget = () => {
      if (this.#shell === shell) this.#shell = undefined
    }
    shell.on('error', forget)
    shell.on('exit', forget)
    shell.stdin?.on('error', forget)
    // Unreferenced, so that neither handle keeps this process alive.
    shell.unref()
    if (shell.stdin instanceof Socket) shell.stdin.unref()
    for (const run of this.#runs) this.#send(`+ ${run}`)
    for (const spool of this.#spools.values()) this.#claim(spool)
  }

  #send(change: string): void {
    this.#shell?.stdin?.write(`${change}\n`)
  }
}

/** Parses the arguments of the sweep program: its guard, and the runs, without those that another guard has claimed. */
export function guardedRuns([guard = '', ...args]: readonly string[]): GuardedRuns {
  const left = args.flatMap((run) => {
    const [runId = '', folder = '', path] = run.split(',').map(decodeURIComponent)
    const guardian = path === undefined ? guard : guardianOf(path)
    return guardian === 'gone' || guardian === guard
      ? [{ runId, folder, path, isGone: guardian === 'gone' }]
      : []
  })
  return {
    runIds: left.map(({ runId }) => runId),
    folders: left.map(({ folder }) => folder),
    spools: left.flatMap(({ runId, path, isGone }) =>
      path === undefined || isGone ? [] : [{ runId, path }],
    ),
    gone: left.filter(({ isGone }) => isGone),
  }
}

interface GuardedRuns {
  runIds: string[]
  folders: string[]
  /** The folders of runs that outlive their server. */
  spools: GuardedSpool[]
  /** Runs that would outlive their server, but whose folder was removed: no server can continue them. */
  gone: { runId: string; folder: string }[]
}

/** The folder of a run that outlives its server. */
export interface GuardedSpool {
  runId: string
  path: string
}

/** The file in the folder of a run that has the pid of its guard. */
const CLAIM = 'guard'

/** The file in the folder of a run that a guard ended, because no process had claimed it in time. */
export const ABANDONED = 'abandoned'

/** The guard that decides about a run, or that its folder is gone. */
function guardianOf(spool: string): string {
  try {
    return readFileSync(join(spool, CLAIM), 'utf8')
  } catch (thrown) {
    if (!(thrown instanceof Error && 'syscall' in thrown)) throw thrown
    return existsSync(spool) ? '' : 'gone'
  }
}

/** The guard that drivers share unless they have one of their own. */
export const orphanGuard = new OrphanGuard()
