import { type ChildProcess, spawn } from 'node:child_process'
import type { ProcessLaunch } from '../../agents/agent.ts'
import { MainstemError } from '../../model/index.ts'
import type { RunContext } from '../driver.ts'
import { findProgram } from '../process/find-program.ts'
import { pinDirectory } from '../process/pin-directory.ts'
import { checkDirectory, spawnError } from '../process/spawn-child.ts'
import type { SpoolFolder } from './spool-folder.ts'

/**
 * Connects the agent to the files of its folder, starts it, and records its exit code. The shell waits for that: it is
 * the only process that can, if the one that started it is gone. It handles signals only so that it outlives the agent,
 * which gets the default handlers.
 *
 * It stores its start time with its pid, because after a restart of the system another process may have that pid.
 *
 * An open input is a FIFO that the agent itself holds open for writing, so that it sees no end when a writer goes away.
 */
const LAUNCHER = `
trap : HUP INT QUIT TERM
d=$1
shift
if [ "$1" = fifo ]; then
  [ -p "$d/in" ] || mkfifo -m 600 "$d/in" || exit 125
  exec 0<>"$d/in"
else
  exec 0<"$d/in"
fi
shift
exec 1>>"$d/out" 2>>"$d/err"
started() {
  if [ -r "/proc/$$/stat" ]; then
    read -r stat <"/proc/$$/stat"
    set -- \${stat##*) }
    shift 19
    echo "$1"
  else
    LC_ALL=C ps -o lstart= -p $$
  fi
}
echo "$$ $(started)" >"$d/pid"
"$@"
code=$?
echo $code >"$d/exit"
exit $code
`

/** Starts a launcher in a session of its own. It has no pipe to this process, and lives on without it. */
export function launchSpooled(
  folder: SpoolFolder,
  launch: ProcessLaunch,
  { cwd, isRealCwd = false }: Pick<RunContext, 'cwd' | 'isRealCwd'>,
  env: Record<string, string>,
  input: 'fifo' | 'file',
): ChildProcess {
  checkDirectory(cwd)
  const [name, ...args] = launch.argv
  const program = findProgram(name, env.PATH ?? '')
  try {
    using pinned = isRealCwd ? pinDirectory(cwd) : undefined
    return spawn('/bin/sh', ['-c', LAUNCHER, 'mainstem-agent', folder.path, input, program, ...args], {
      cwd: pinned?.path ?? cwd,
      env,
      detached: true,
      stdio: 'ignore',
    })
  } catch (thrown) {
    throw thrown instanceof MainstemError ? thrown : spawnError(program, thrown)
  }
}
