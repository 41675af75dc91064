import { appendFileSync, readdirSync, readFileSync, renameSync, symlinkSync, truncateSync } from 'node:fs'
import { basename, join } from 'node:path'
import { READ } from '../../src/sessions/machine/sent.ts'
import type { Note } from '../fakes/history.ts'
import { pick, type Random } from '../random.ts'
import type { SmallDisk } from './small-disk.ts'
import type { Storage } from './storage.ts'

/**
 * What happens to a running agent while no server runs. `agent`: it is killed. `torn`: it is killed within a line.
 * `guard`: its guard is killed, and it lives. `truncated` and `symlink`: its output is shortened or replaced. `disk`: no
 * space is left for the output of any agent, until the next server has answered the first commands.
 */
export const DAMAGES = ['agent', 'torn', 'guard', 'truncated', 'symlink', 'disk'] as const
export type DamageKind = (typeof DAMAGES)[number]

/** Why a turn is lost after each damage. A guard that is gone loses none. */
const REASONS: Readonly<Record<DamageKind, RegExp | undefined>> = {
  agent: /^the agent ended while no server was running/,
  torn: /^the agent ended while no server was running/,
  guard: undefined,
  truncated: /the output of the agent in \S+ has (\d+ bytes, and \d+ were read|no line that ends at)/,
  symlink: /the output of the agent cannot be read: ELOOP/,
  // The server may come after the space.
  disk: /no space (is )?left|^the agent ended while no server was running/,
}

interface DamageSetup {
  kinds: readonly DamageKind[]
  random: Random
  /** Where the folders of running agents are. */
  spool: string
  /** Where fake agents note what they print. */
  histories: string
  storage: Storage
  /** The disk of the spool, if it can be filled. */
  disk: SmallDisk | undefined
}

/** Does damage to the agents of a host whose server is down, and says which turns may be lost for it. */
export class Damages {
  /** How often each was done. */
  readonly done = new Map<DamageKind, number>()
  readonly #setup: DamageSetup
  readonly #left = new Map<DamageKind, number>()

  constructor(setup: DamageSetup) {
    this.#setup = setup
  }

  /** Damages one of the running agents. Does nothing if there is none. */
  async strike(): Promise<void> {
    const { kinds, random, spool } = this.#setup
    if (kinds.length === 0) return
    const runs = readdirSync(spool).flatMap((name) => runIn(join(spool, name)))
    if (runs.length === 0) return
    const [kind, run] = [pick(random, kinds), pick(random, runs)]
    if (!(await harm[kind](run, this.#setup))) return
    this.done.set(kind, (this.done.get(kind) ?? 0) + 1)
    this.#left.set(kind, kind === 'disk' ? Number.POSITIVE_INFINITY : (this.#left.get(kind) ?? 0) + 1)
  }

  /** Ends the damage that does not last. Returns true if there was any. */
  heal(): boolean {
    return this.#setup.disk?.free() ?? false
  }

  /** Whether a turn may be lost for this reason: one for each damage at most, except for a full disk, which all have. */
  explains(why: string): boolean {
    const kind = [...this.#left].find(([kind, left]) => left > 0 && REASONS[kind]?.test(why))?.[0]
    if (kind === undefined) return false
    this.#left.set(kind, (this.#left.get(kind) ?? 0) - 1)
    return true
  }
}

interface DamagedRun {
  folder: string
  launcher: number
}

function runIn(folder: string): DamagedRun[] {
  const [pid = ''] = readOr(join(folder, 'pid')).split(' ')
  const launcher = Number(pid)
  return launcher > 0 && readOr(join(folder, 'exit')) === '' && isAlive(launcher)
    ? [{ folder, launcher }]
    : []
}

/** Each returns false if it could not be done. */
const harm: Readonly<
  Record<DamageKind, (run: DamagedRun, setup: DamageSetup) => boolean | Promise<boolean>>
> = {
  agent: kill,
  torn(run, { histories }) {
    const agents = childrenOf(run.launcher)
    if (!kill(run)) return false
    const isOf = (name: string) => agents.includes(name.split('-')[0] ?? '')
    const history = readdirSync(histories).find(isOf)
    // It had noted nothing yet, or it is a server, which prints no lines of its protocol.
    if (history === undefined || readOr(join(histories, history)).includes(SERVER)) return true
    appendFileSync(join(run.folder, 'out'), HALF_A_LINE)
    // The agent can note no more, and the journal has what is in the file.
    const note: Note = { type: 'line', text: HALF_A_LINE }
    appendFileSync(join(histories, history), `${JSON.stringify(note)}\n`)
    return true
  },
  guard({ folder }) {
    const guard = Number(readOr(join(folder, 'guard')))
    return guard > 0 && isAlive(guard) && process.kill(guard, 'SIGKILL')
  },
  async truncated({ folder }, { random, storage }) {
    // Bytes that no server has read are missed by nobody: the agent might never have written them.
    const read = await bytesRead(storage, folder)
    if (read > 0) truncateSync(join(folder, 'out'), Math.floor(random() * read))
    return read > 0
  },
  symlink({ folder }) {
    renameSync(join(folder, 'out'), join(folder, 'out.old'))
    symlinkSync(join(folder, 'out.old'), join(folder, 'out'))
    return true
  },
  disk: (_, { disk }) => disk?.fill() ?? false,
}

/** How much of the output of a run is in the journal. */
async function bytesRead(storage: Storage, folder: string): Promise<number> {
  const session = decodeURIComponent(basename(folder)).replace(/\.\d+$/, '')
  const { frame = 0 } = JSON.parse(readOr(join(folder, 'run.json')) || '{}')
  await using store = await storage.open()
  let read = 0
  for (let at = frame; ; ) {
    const page = await store.readJournal(session, at, 1_000)
    for (const { stream, text } of page) if (stream === READ) read = JSON.parse(text).stdout
    if (page.length === 0) return read
    at = page.at(-1)?.frame
  }
}

const HALF_A_LINE = '{"type":"assist'

/** In the first note of a server. */
const SERVER = '"agent":"opencode","launch":"live"'

function childrenOf(pid: number): string[] {
  return readOr(`/proc/${pid}/task/${pid}/children`).split(' ')
}

/** Ends the launcher and the agent at once, so that nothing records how. */
function kill({ launcher }: DamagedRun): boolean {
  try {
    return process.kill(-launcher, 'SIGKILL')
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  return ['R', 'S', 'D', 'T'].includes(readOr(`/proc/${pid}/stat`).split(') ').at(-1)?.[0] ?? '')
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
