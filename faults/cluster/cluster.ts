import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresServer, startPostgres } from '../../test/postgres/server.ts'
import { Findings } from '../check/findings.ts'
import { checkLoad } from '../crash/gather.ts'
import { Load } from '../crash/load.ts'
import { storageOn } from '../crash/storage.ts'
import { readHistories } from '../fakes/history.ts'
import { AGENTS, SCRIPTS } from '../nemesis/scripts.ts'
import { pick, type Random, randomFrom, shuffled } from '../random.ts'
import { auditIn, prepareDatabase } from './audit.ts'
import { FAULTS, type FaultName, PARTITIONS } from './faults.ts'
import { whyNoNamespaces } from './namespace.ts'
import { type Node, Nodes } from './nodes.ts'
import { overlaps } from './overlaps.ts'
import { Takeovers } from './takeovers.ts'
import { busySessions } from './victims.ts'

export interface ClusterSettings {
  seed: number
  sessions: number
  leaseMs: number
  durationMs: number
  faults: readonly FaultName[]
  tell(text: string): void
}

/** The result of a run. */
export interface Survived {
  found: Findings
  counts: Record<'sessions' | 'prompts' | 'answers' | 'interrupts' | 'entries' | 'takeovers', number>
  /** How often each fault was made. */
  faults: ReadonlyMap<FaultName, number>
  /** The longest time from the end of a lease to the next owner. */
  longestTakeoverMs: number
}

const NAMES = ['n1', 'n2', 'n3']
const TICK_MS = 50
/** Between two faults, so that clients see healthy nodes too. */
const LONGEST_REST_MS = 2_000
const PATIENCE_MS = 180_000
/** From the end of a lease to the next owner. */
const TAKEOVER_MS = 2_000

/** Three servers on one PostgreSQL that fail one after another while clients use all of them. */
export async function cluster(settings: ClusterSettings): Promise<Survived> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'cluster-')))
  const random = randomFrom(settings.seed)
  try {
    await using database = await startPostgres()
    await prepareDatabase(database.url, NAMES)
    const { leaseMs, tell } = settings
    const whyNot = whyNoNamespaces()
    if (whyNot !== undefined)
      tell(`partitions are skipped, because namespaces cannot be made here: ${whyNot}`)
    const isolated = whyNot === undefined
    const given = { home, database: database.url, names: NAMES, leaseMs, isolated, random }
    await using nodes = await Nodes.create(given)
    return await new Trial(settings, database, nodes, random).run()
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

class Trial {
  readonly #settings: ClusterSettings
  readonly #database: PostgresServer
  readonly #nodes: Nodes
  readonly #random: Random
  readonly #load: Load
  readonly #takeovers: Takeovers
  readonly #found = new Findings()
  readonly #faults = new Map<FaultName, number>()
  #isWorking = true

  constructor(settings: ClusterSettings, database: PostgresServer, nodes: Nodes, random: Random) {
    this.#settings = settings
    this.#database = database
    this.#nodes = nodes
    this.#random = random
    this.#load = new Load(nodes, random, { agents: AGENTS, scripts: SCRIPTS, open: settings.sessions })
    this.#takeovers = new Takeovers(database.url, () => nodes.soundNodes > 0)
  }

  async run(): Promise<Survived> {
    for (const node of this.#nodes.all) await this.#nodes.start(node)
    const working = this.#work()
    await this.#hurt(performance.now() + this.#settings.durationMs)
    this.#isWorking = false
    await working
    const entries = await this.#conclude()
    return this.#survived(entries)
  }

  /** Every fault once, in random order, then again, until the time is over or a node has used what it did not own. */
  async #hurt(end: number): Promise<void> {
    const canPart = this.#nodes.all.every(({ namespace }) => namespace)
    const names = this.#settings.faults.filter((name) => canPart || !PARTITIONS.includes(name))
    while (performance.now() < end) {
      for (const name of shuffled(this.#random, names)) {
        if (performance.now() >= end || (await this.#ownershipProblems()).all.length > 0) return
        await sleep(this.#random() * LONGEST_REST_MS)
        const node = await this.#victim()
        this.#settings.tell(`${node.name}: ${name}`)
        const [nodes, database, leaseMs] = [this.#nodes, this.#database, this.#settings.leaseMs]
        const problem = await FAULTS[name]({ nodes, node, database, leaseMs, random: this.#random })
        if (problem !== undefined) this.#found.add('terminal', problem)
        this.#faults.set(name, (this.#faults.get(name) ?? 0) + 1)
      }
    }
  }

  async #victim(): Promise<Node> {
    const busy = (await busySessions(this.#database.url)).filter(({ hasQueue }) => hasQueue)
    const victims = this.#nodes.all.filter(({ name }) => busy.some(({ owner }) => owner === name))
    return pick(this.#random, victims.length > 0 ? victims : this.#nodes.all)
  }

  async #work(): Promise<void> {
    const commands = new Set<Promise<void>>()
    while (this.#isWorking) {
      // A command may wait for its turn to end, so none is waited for here; but there is a bound.
      if (commands.size < 2 * this.#settings.sessions) {
        const command: Promise<void> = this.#load.tick().finally(() => commands.delete(command))
        commands.add(command)
      }
      await sleep(TICK_MS)
    }
    await Promise.all(commands)
  }

  async #conclude(): Promise<number> {
    const found = this.#found
    const concluded = this.#load.conclude().then(() => true)
    if (!(await Promise.race([concluded, sleep(PATIENCE_MS, false, { ref: false })])))
      found.add('lost', ...this.#load.unfinished)
    await this.#takeovers.stop()
    for (const node of this.#nodes.all) await this.#nodes.stop(node, AbortSignal.timeout(PATIENCE_MS))
    found.add('orphan', ...this.#nodes.agentProcesses())
    const longest = this.#longestTakeover()
    if (longest > TAKEOVER_MS)
      found.add('takeover', `a session waited ${longest} ms for a new owner after the lease of the last`)
    await this.#ownershipProblems(found)
    // Another node takes over the sessions of one that cannot renew its lease.
    const mayLose = () => true
    const storage = storageOn(this.#database)
    return checkLoad({ storage, histories: this.#histories }, this.#load, found, mayLose)
  }

  async #ownershipProblems(found = new Findings()): Promise<Findings> {
    found.add('fence', ...(await auditIn(this.#database.url)))
    found.add('overlap', ...overlaps(readHistories(this.#histories)))
    return found
  }

  /** Where the agents of all nodes keep their histories. */
  get #histories(): string {
    return this.#nodes.all[0]?.host.histories ?? ''
  }

  #longestTakeover(): number {
    return Math.round(Math.max(0, this.#takeovers.longestOpen, ...this.#takeovers.waits))
  }

  #survived(entries: number): Survived {
    const { prompts, answers, interrupts } = this.#load.history
    const counts = {
      sessions: this.#load.conversations.length,
      prompts: prompts.length,
      answers: answers.length,
      interrupts: interrupts.length,
      entries,
      takeovers: this.#takeovers.waits.length,
    }
    const longestTakeoverMs = this.#longestTakeover()
    return { found: this.#found, counts, faults: this.#faults, longestTakeoverMs }
  }
}
