import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Ran } from '../cli/mainstem-process.ts'
import type { Plan } from './deployment.ts'

const NAMESPACES = ['--mount', '--net', '--pid', '--fork', '--kill-child']

/** Whether this machine lets us change the root directory and the user. */
export function canContain(): boolean {
  return process.getuid?.() === 0 && spawnSync('unshare', [...NAMESPACES, 'true']).status === 0
}

/** Builds a root directory with the programs of this machine, this repository, and empty directories of the user. */
const CONTAIN = `set -e
ip link set lo up
mount -t tmpfs tmpfs "$ROOT"
for name in usr lib lib64 bin sbin etc; do
  [ -e "/$name" ] || continue
  mkdir "$ROOT/$name"
  mount --rbind -o ro "/$name" "$ROOT/$name"
done
mkdir "$ROOT/proc" "$ROOT/dev" "$ROOT/tmp" "$ROOT/opt" "$ROOT/opt/mainstem"
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
chmod 1777 "$ROOT/tmp"
mount --rbind -o ro "$REPOSITORY" "$ROOT/opt/mainstem"
mount -t tmpfs tmpfs "$ROOT/usr/local/bin"
touch "$ROOT/usr/local/bin/node"
mount --bind "$NODE" "$ROOT/usr/local/bin/node"
printf '#!/bin/sh\\nexec node /opt/mainstem/src/cli/main.ts "$@"\\n' > "$ROOT/usr/local/bin/mainstem"
chmod 755 "$ROOT/usr/local/bin/mainstem"
for directory in $DIRECTORIES; do
  install -d -o "$USER_ID" -g "$USER_ID" -m 700 "$ROOT$directory"
done
cd /
exec chroot --userspec="$USER_ID:$USER_ID" "$ROOT" /usr/bin/env -i "$@"`

/** Starts the server, waits until it listens, runs the checks, and ends everything but this shell. */
const INSIDE = `cd "$DIRECTORY"
mainstem "$@" > /tmp/output 2>&1 &
server=$!
until grep -q '^page: ' /tmp/output; do
  kill -0 "$server" 2> /dev/null || { cat /tmp/output >&2; exit 1; }
  sleep 0.1
done
eval "$CHECKS"
code=$?
kill -9 -1
exit "$code"`

/**
 * Runs the command of a deployment with its own paths and its own port: as this user, in a root directory, a network and
 * processes of its own. The checks are commands of a shell beside the server; the first that fails ends them.
 */
export async function contained(plan: Plan, user: number, checks: readonly string[]): Promise<Ran> {
  const root = mkdtempSync(join(tmpdir(), 'contained-'))
  const home = '/home/user'
  const variables = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    ...plan.env,
    DIRECTORY: plan.cwd,
    CHECKS: checks.join(' && '),
  }
  const assigned = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  const args = [...NAMESPACES, 'sh', '-c', CONTAIN, 'contain', ...assigned]
  const child = spawn('unshare', [...args, 'sh', '-c', INSIDE, 'inside', ...plan.args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      ROOT: root,
      REPOSITORY: process.cwd(),
      NODE: process.execPath,
      USER_ID: String(user),
      DIRECTORIES: [home, ...plan.directories].join(' '),
    },
  })
  const exited = once(child, 'close')
  const [[code], out, err] = await Promise.all([exited, text(child.stdout), text(child.stderr)])
  // The mounts ended with their namespace.
  rmdirSync(root)
  return { code, out, err }
}
