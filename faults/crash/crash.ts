import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Findings } from '../check/findings.ts'
import { type Random, randomFrom, shuffled } from '../random.ts'
import { type DamageKind, Damages } from './damage.ts'
import { checkLoad } from './gather.ts'
import { Host } from './host.ts'
import { Load, type LoadSettings } from './load.ts'
import { Patience, Stuck } from './patience.ts'
import type { Plan, Point } from './plan.ts'
import { Reader } from './reader.ts'
import { SmallDisk } from './small-disk.ts'
import { postgresStorage, sqliteStorage } from './storage.ts'

/** `anywhere` is a moment of our own choice; `database` is one in which its database is killed before it. */
export type Place = Point | 'anywhere' | 'database'

export interface Crashed {
  found: Findings
  rounds: number
  seed: number
  /** How often the server was killed, by place. */
  hits: Map<Place, number>
  /** Places that were waited for in vain. */
  missed: Point[]
  /** What happened to agents while no server ran. */
  damages: ReadonlyMap<DamageKind, number>
  entries: number
}

/** The time limit for a server to reach its point. */
const PATIENCE_MS = 15_000
/** The number of starts to find a server in the middle of its recovery. */
const MOST_LIVES = 6
const LONGEST_ROUND_MS = 700
/** The time limit for everything else that a trial waits for. */
const LONGEST_WAIT_MS = 120_000

/** The number of passes of each place before the server is killed there; busy places are passed often. */
const PASSES: Record<Point, number> = {
  'before-append': 40,
  'in-transaction': 40,
  'after-commit-before-ack': 40,
  'after-ack-before-show': 40,
  'during-checkpoint': 1,
  'after-spawn-before-record': 2,
  'before-answer-written': 2,
  'during-recovery': 1,
  'during-drain': 2,
}

/** New sessions in every life: enough that each point where a process starts or is answered is passed. */
const CREATED = 3
const SETTINGS: LoadSettings = {
  agents: [
    ['claude', 'live'],
    ['claude', 'live'],
    ['codex', 'live'],
    ['opencode', 'live'],
    ['acp', 'live'],
    ['pi', 'live'],
    ['claude', 'oneshot'],
    ['codex', 'oneshot'],
    ['gemini', 'oneshot'],
    ['opencode', 'oneshot'],
    ['echo', 'live'],
  ],
  scripts: ['spawn say ask say', 'say ask leak ask', 'say say', 'say hang'],
  always: { agent: ['claude', 'live'], script: 'say ask leak ask' },
  open: 5,
}

/** Kills a server repeatedly under load, and checks what it stored. The seed chooses the places and times. */
export async function crash(
  seed: number,
  rounds: number,
  tell: (text: string) => void,
  store: 'sqlite' | 'postgres' = 'sqlite',
  damages: readonly DamageKind[] = [],
): Promise<Crashed> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'crash-')))
  let isStuck = false
  try {
    await using storage = store === 'sqlite' ? sqliteStorage(home) : await postgresStorage()
    const spool = join(home, 'spool')
    using disk = damages.includes('disk') ? SmallDisk.mount(home, spool) : undefined
    const kinds = damages.filter((kind) => kind !== 'disk' || disk !== undefined)
    await using host = await Host.create(home, { program: 'failpoints', drainMs: 50, storage })
    const { histories } = host
    const setup = { kinds, random: randomFrom(seed), spool, histories, storage, disk }
    const trial = new Trial(host, seed, rounds, tell, new Damages(setup))
    return await trial.run()
  } catch (thrown) {
    isStuck = thrown instanceof Stuck
    throw thrown
  } finally {
    // What a server that got stuck has written shows why.
    if (!isStuck) rmSync(home, { recursive: true, maxRetries: 3 })
  }
}

class Trial {
  readonly #host: Host
  readonly #random: Random
  readonly #load: Load
  readonly #damages: Damages
  readonly #tell: (text: string) => void
  readonly #crashed: Crashed
  readonly #wait: Patience

  constructor(host: Host, seed: number, rounds: number, tell: (text: string) => void, damages: Damages) {
    this.#host = host
    this.#damages = damages
    this.#random = randomFrom(seed)
    this.#load = new Load(host, this.#random, SETTINGS)
    this.#tell = tell
    this.#wait = new Patience(LONGEST_WAIT_MS, () => [
      `its files are in ${host.home}`,
      ...this.#load.client.open,
      ...host.errors.slice(-5),
    ])
    this.#crashed = {
      rounds,
      seed,
      hits: new Map(),
      missed: [],
      damages: damages.done,
      entries: 0,
      found: new Findings(),
    }
  }

  async run(): Promise<Crashed> {
    const places: Place[] = []
    while (places.length < this.#crashed.rounds) {
      const { points, restart } = this.#host.storage
      const ours = restart
        ? (['database', 'database', 'anywhere'] as const)
        : (['anywhere', 'anywhere'] as const)
      places.push(...shuffled<Place>(this.#random, [...points, ...ours]))
    }
    for (const [index, place] of places.slice(0, this.#crashed.rounds).entries()) {
      this.#wait.place = `round ${index + 1} (${place})`
      await this.#round(place)
    }
    this.#wait.place = 'after the last round'
    await this.#conclude()
    return this.#crashed
  }

  async #round(place: Place): Promise<void> {
    const point = place === 'anywhere' || place === 'database' ? undefined : place
    const passes = point === undefined ? 0 : Math.floor(this.#random() * PASSES[point])
    const plan: Plan = point === undefined ? { passes } : { point, passes }
    // A life may pass its point too rarely, or find nothing to recover: the next one starts with more open sessions.
    const lives = point === undefined ? 1 : MOST_LIVES
    let isHit = false
    for (let life = 0; life < lives && !isHit; life++) isHit = await this.#life(place, plan)
    if (isHit) this.#crashed.hits.set(place, (this.#crashed.hits.get(place) ?? 0) + 1)
    else if (point !== undefined) this.#crashed.missed.push(point)
    this.#tell(`${place}${isHit ? '' : ' (not reached)'} after ${passes} passes`)
  }

  /** One life of the server; true when it ended where it was to end. */
  async #life(place: Place, plan: Plan): Promise<boolean> {
    if (!(await this.#started(plan))) return true
    // Ensures that a turn is open when the server is told to stop, however late that is.
    this.#load.answers = place !== 'during-drain'
    const pressed = this.#press()
    const moment = this.#random() * LONGEST_ROUND_MS
    const isAnywhere = place === 'anywhere' || place === 'database'
    const isOurs = isAnywhere || place === 'during-recovery' || place === 'during-drain'
    const isGone = this.#host.exited()
    // There has to be something to recover, and something to drain.
    if (isOurs && !isAnywhere) await this.#wait.for('the answers', Promise.race([isGone, pressed]))
    await Promise.race([isGone, sleep(isOurs ? moment : PATIENCE_MS, undefined, { ref: false })])
    if (place === 'database') {
      await this.#wait.for('the restart of the database', Promise.resolve(this.#host.storage.restart?.()))
      await Promise.race([isGone, sleep(this.#random() * LONGEST_ROUND_MS, undefined, { ref: false })])
    }
    if (place === 'during-drain') {
      this.#host.signal('SIGTERM')
      await Promise.race([isGone, sleep(PATIENCE_MS, undefined, { ref: false })])
    }
    const byItself = this.#host.isGone
    this.#host.signal('SIGKILL')
    const killed = await this.#wait.for('the end of the killed server', isGone)
    await this.#wait.for('the answers of the killed server', pressed)
    if (killed) await this.#damages.strike()
    return isAnywhere || (byItself && killed)
  }

  /** Again where a damage has ended meanwhile, because a server that refuses everything passes no point. */
  async #press(): Promise<void> {
    await this.#load.press(CREATED)
    if (this.#damages.heal()) await this.#load.press(CREATED)
  }

  async #conclude(): Promise<void> {
    const { found } = this.#crashed
    this.#load.answers = true
    this.#damages.heal()
    await this.#started()
    const concluded = this.#load.conclude().then(() => true)
    if (!(await Promise.race([concluded, sleep(60_000, false, { ref: false })]))) {
      found.add('lost', ...this.#load.unfinished)
    }
    await this.#replayTasks()
    this.#host.signal('SIGTERM')
    await this.#wait.for('the end of the stopped server', this.#host.exited())
    found.add('orphan', ...this.#host.agentProcesses())
    this.#crashed.entries = await checkLoad(this.#host, this.#load, found, (why) =>
      this.#damages.explains(why),
    )
    const logs = await this.#host.storage.logs()
    await this.#started()
    const again = await this.#host.storage.logs()
    if ([...again].some(([id, log]) => log.length !== logs.get(id)?.length)) {
      found.add('repeated', 'recovering a server that was stopped wrote something')
    }
  }

  #started(plan?: Plan): Promise<boolean> {
    return this.#wait.for('the start of the server', this.#host.start(plan))
  }

  /** The same key and body: the same stream, byte for byte. */
  async #replayTasks(): Promise<void> {
    for (const { reader, task } of this.#load.tasks.filter(({ reader }) => reader.isEnded)) {
      const again = new Reader(this.#host, this.#load.taskReading(task))
      await this.#wait.for(`the same stream of ${reader.name}`, again.ended)
      const [first, second] = [reader, again].map(({ shown }) => JSON.stringify([...shown]))
      if (first !== second) this.#crashed.found.add('lost', `${reader.name}: ${first} became ${second}`)
    }
  }
}
