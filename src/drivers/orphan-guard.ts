import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Keeps the list of runs and waits for the end of its input, which is the end of this process however it ends. Then
 * it becomes the sweep. Signals are ignored, because a service manager sends them to all its processes at once.
 */
const SHELL_SCRIPT = `
trap '' HUP INT QUIT TERM
set -f
runs=
while read -r change run; do
  kept=
  for known in $runs; do [ "$known" = "$run" ] || kept="$kept $known"; done
  runs=$kept
  [ "$change" = - ] || runs="$runs $run"
done
[ -z "$runs" ] || exec "$@" $runs
`

/** The same file beside this one, compiled or not. */
const SWEEP = fileURLToPath(new URL(`./orphan-sweep${extname(import.meta.url)}`, import.meta.url))

/**
 * Ends the runs of this process when the process dies without ending them, also by SIGKILL. A shell outside of every
 * run's process group waits for that; it starts with the first run and costs about 2 MB.
 */
export class OrphanGuard {
  readonly #runs = new Set<string>()
  #shell: ChildProcess | undefined

  /** Call it before the first process of the run starts. The returned function ends the guard when the run is over. */
  add(runId: string, folder: string): () => void {
    const run = `${encodeURIComponent(runId)},${encodeURIComponent(folder)}`
    this.#runs.add(run)
    if (this.#shell) this.#tell(`+ ${run}`)
    else this.#start()
    return () => {
      this.#runs.delete(run)
      this.#tell(`- ${run}`)
    }
  }

  #start(): void {
    const shell = spawn('/bin/sh', ['-c', SHELL_SCRIPT, 'mainstem-guard', process.execPath, SWEEP], {
      // In a session of its own, so that no signal to the group of an agent or of this process reaches it.
      detached: true,
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#shell = shell
    // Without it, or when it is killed, the sweep at the next start has to do; the next run starts another one.
    const lose = () => {
      if (this.#shell === shell) this.#shell = undefined
    }
    shell.on('error', lose)
    shell.on('exit', lose)
    shell.stdin?.on('error', lose)
    // Neither may keep this process from its end.
    shell.unref()
    if (shell.stdin instanceof Socket) shell.stdin.unref()
    for (const run of this.#runs) this.#tell(`+ ${run}`)
  }

  #tell(change: string): void {
    this.#shell?.stdin?.write(`${change}\n`)
  }
}

/** Reads the arguments of the sweep. */
export function guardedRuns(args: readonly string[]): { runIds: string[]; folders: string[] } {
  const runs = args.map((run) => run.split(',').map(decodeURIComponent))
  return { runIds: runs.map(([runId = '']) => runId), folders: runs.map(([, folder = '']) => folder) }
}

/** One for all drivers of this process. */
export const orphanGuard = new OrphanGuard()
