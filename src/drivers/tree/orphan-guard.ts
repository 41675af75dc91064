import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The shell reads the list of runs until its input ends, which happens when this process exits for any reason; it then
 * execs the sweep. It ignores signals, because a service manager sends them to all processes at once.
 *
 * A line `! 18.0` sets a deadline: without another one within 18 s, a subshell sweeps the runs listed so far. This also
 * ends the runs of a process that is suspended. The `sleep` of a subshell that was replaced ends by itself.
 */
const SHELL_SCRIPT = `
trap '' HUP INT QUIT TERM
set -f
runs=
timer=
while read -r change run; do
  if [ "$change" = '!' ]; then
    [ -z "$timer" ] || kill -9 "$timer" 2>/dev/null
    timer=
    [ -n "$runs" ] || continue
    ( sleep "$run"; exec "$@" $runs ) &
    timer=$!
    continue
  fi
  kept=
  for known in $runs; do [ "$known" = "$run" ] || kept="$kept $known"; done
  runs=$kept
  [ "$change" = - ] || runs="$runs $run"
done
[ -z "$timer" ] || kill -9 "$timer" 2>/dev/null
[ -z "$runs" ] || exec "$@" $runs
`

/** The sweep program next to this file, compiled or not. */
const SWEEP = fileURLToPath(new URL(`./orphan-sweep${extname(import.meta.url)}`, import.meta.url))

/**
 * Terminates the runs of this process if the process dies without terminating them, even by SIGKILL. A shell outside of
 * every run's process group waits for that; it starts with the first run and uses about 2 MB.
 */
export class OrphanGuard {
  readonly #runs = new Set<string>()
  /** By the monotonic clock; undefined without a deadline. */
  #deadline: number | undefined
  #shell: ChildProcess | undefined

  /** Call this before the first process of the run starts. The returned function removes the run from the guard. */
  add(runId: string, folder: string): () => void {
    const run = `${encodeURIComponent(runId)},${encodeURIComponent(folder)}`
    this.#runs.add(run)
    if (this.#shell) this.#send(`+ ${run}`)
    else this.#start()
    this.#sendDeadline()
    return () => {
      this.#runs.delete(run)
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

  #start(): void {
    const shell = spawn('/bin/sh', ['-c', SHELL_SCRIPT, 'mainstem-guard', process.execPath, SWEEP], {
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
  }

  #send(change: string): void {
    this.#shell?.stdin?.write(`${change}\n`)
  }
}

/** Parses the arguments of the sweep program. */
export function guardedRuns(args: readonly string[]): { runIds: string[]; folders: string[] } {
  const runs = args.map((run) => run.split(',').map(decodeURIComponent))
  return { runIds: runs.map(([runId = '']) => runId), folders: runs.map(([, folder = '']) => folder) }
}

/** The guard that drivers share unless they have one of their own. */
export const orphanGuard = new OrphanGuard()
