import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'

/** Isolates the programs from the network and the file system while they run. */
export interface Fence {
  /** Emitted at the start of a run. */
  readonly words: string
  /** Folders where nothing may appear. */
  readonly covered: readonly string[]
  /** The arguments before a command. */
  readonly prefix: readonly string[]
}

/** Covered first. Keeps what the run needs of the other folders meanwhile. */
const ASIDE = '/var/tmp'

/** An own network with a loopback and no route, and empty folders in place of the home and the temporary ones. */
const SCRIPT = `
set -e
ip link set lo up
mount --make-rprivate /
mount -t tmpfs covered "$ASIDE"
count=0
for path in $KEPT; do
  count=$((count + 1))
  mkdir "$ASIDE/$count"
  mount --bind "$path" "$ASIDE/$count"
done
for folder in $COVERED; do mount -t tmpfs covered "$folder"; done
count=0
for path in $KEPT; do
  count=$((count + 1))
  mkdir -p "$path"
  mount --move "$ASIDE/$count" "$path"
done
rmdir "$ASIDE"/*
cd "$FOLDER"
exec "$@"
`

const WAYS = [
  ['unshare', '--net', '--mount'],
  ['unshare', '--user', '--map-root-user', '--net', '--mount'],
]

/** The default folders of programs. They are checked for changes if they cannot be covered. */
const OWN_FOLDERS = ['.claude', '.codex', '.gemini', '.config/opencode', '.local/share/opencode', '.qwen']

/** The strongest fence that this system allows. */
export async function raiseFence(kept: readonly string[]): Promise<Fence> {
  const covered = [homedir(), '/tmp']
  const needed = [
    ...new Set([...kept, process.cwd(), dirname(process.execPath)].map((path) => resolve(path))),
  ]
  for (const way of WAYS) {
    const set = [
      `KEPT=${needed.join(' ')}`,
      `COVERED=${covered.join(' ')}`,
      `FOLDER=${process.cwd()}`,
      `ASIDE=${ASIDE}`,
    ]
    const prefix = [...way, 'env', ...set, 'sh', '-c', SCRIPT, 'sh']
    if (!(await succeeds([...prefix, 'true']))) continue
    const words = 'a network of its own without a route, and empty folders instead of home and /tmp'
    return { words, covered: [...covered, ASIDE], prefix }
  }
  return {
    words:
      'no namespace is to be had here: connections and the folders of the programs are looked at instead',
    covered: OWN_FOLDERS.map((folder) => resolve(homedir(), folder)),
    prefix: [],
  }
}

async function succeeds([program = '', ...args]: readonly string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: 'ignore' })
  // Without this program there are no namespaces.
  const failed = new Promise<[number]>((done) => child.once('error', () => done([1])))
  const [code] = await Promise.race([once(child, 'exit'), failed])
  return code === 0
}

/** Variables that the programs may have: nothing of ours that could be a key, a proxy or a setting. */
export function cleanEnvironment(home: string): Record<string, string> {
  return {
    HOME: home,
    LANG: 'C.UTF-8',
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(':'),
    TMPDIR: home,
  }
}
