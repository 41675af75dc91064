import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Findings } from '../check/findings.ts'
import { checkLoad } from '../crash/gather.ts'
import { Host } from '../crash/host.ts'
import { Load } from '../crash/load.ts'
import { pick, type Random, randomFrom } from '../random.ts'
import { AGENTS, SCRIPTS } from './scripts.ts'
import { Tormentor } from './tormentor.ts'

export interface Nemesis {
  seed: number
  sessions: number
  durationMs: number
  tell(text: string): void
}

/** The result of a run. */
export interface Survived {
  found: Findings
  counts: Record<'sessions' | 'prompts' | 'answers' | 'interrupts' | 'entries' | 'agentsHurt', number>
  /** How often the server was killed, by phase. */
  kills: Record<Phase, number>
}

/** When a server is killed: while it starts, works or drains; or it is stopped in order. */
type Phase = 'start' | 'run' | 'drain' | 'none'
const PHASES: readonly Phase[] = ['start', 'run', 'run', 'drain', 'none']

const TICK_MS = 15
const LONGEST_LIFE_MS = 12_000
const LONGEST_START_MS = 500
const LONGEST_DRAIN_MS = 400
const PATIENCE_MS = 120_000

/** Hurts agents, connections and the server at random while clients work, then checks all that is left. */
export async function nemesis(settings: Nemesis): Promise<Survived> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'nemesis-')))
  try {
    await using host = await Host.create(home, { program: 'serve', drainMs: 200 })
    return await new Trial(host, settings).run()
  } finally {
    rmSync(home, { recursive: true, maxRetries: 3 })
  }
}

class Trial {
  readonly #host: Host
  readonly #settings: Nemesis
  readonly #random: Random
  readonly #load: Load
  readonly #tormentor: Tormentor
  readonly #found = new Findings()
  readonly #kills: Record<Phase, number> = { start: 0, run: 0, drain: 0, none: 0 }

  constructor(host: Host, settings: Nemesis) {
    this.#host = host
    this.#settings = settings
    this.#random = randomFrom(settings.seed)
    this.#load = new Load(host, this.#random, { agents: AGENTS, scripts: SCRIPTS, open: settings.sessions })
    this.#tormentor = new Tormentor(host, this.#random)
  }

  async run(): Promise<Survived> {
    const end = performance.now() + this.#settings.durationMs
    try {
      while (performance.now() < end) await this.#life(pick(this.#random, PHASES), end)
      const entries = await this.#conclude()
      return this.#survived(entries)
    } finally {
      this.#tormentor.release()
    }
  }

  async #life(phase: Phase, end: number): Promise<void> {
    const started = this.#host.start()
    if (phase === 'start') await this.#killStart(started)
    if (!(await started)) {
      this.#kills.start++
      return
    }
    await this.#work(Math.min(this.#random() * LONGEST_LIFE_MS, end - performance.now()))
    if (phase === 'drain' || phase === 'none') this.#host.signal('SIGTERM')
    if (phase === 'drain') await sleep(this.#random() * LONGEST_DRAIN_MS)
    if (phase === 'none')
      await Promise.race([this.#host.exited(), sleep(PATIENCE_MS, undefined, { ref: false })])
    const running = this.#host.agentProcesses().join('; ')
    this.#host.signal('SIGKILL')
    const killed = await this.#host.exited()
    // The agents of a killed server work on, for the next one.
    if (!killed) this.#found.add('orphan', ...this.#host.agentProcesses())
    if (killed && phase === 'none')
      this.#found.add('terminal', `a server that was told to stop did not; agents that run: ${running}`)
    this.#kills[killed ? phase : 'none']++
    this.#settings.tell(this.#progress(phase))
  }

  async #killStart(started: Promise<boolean>): Promise<void> {
    await Promise.race([started, sleep(this.#random() * LONGEST_START_MS)])
    this.#host.signal('SIGKILL')
  }

  async #work(forMs: number): Promise<void> {
    const end = performance.now() + forMs
    const commands = new Set<Promise<void>>()
    while (performance.now() < end && !this.#host.isGone) {
      // A command may wait for its turn to end, so none is waited for here; but there is a bound.
      if (commands.size < 4 * this.#settings.sessions) {
        const command: Promise<void> = this.#load.tick().finally(() => commands.delete(command))
        commands.add(command)
      }
      this.#tormentor.strike()
      await sleep(TICK_MS)
    }
  }

  async #conclude(): Promise<number> {
    await this.#host.start()
    this.#tormentor.release()
    const concluded = this.#load.conclude().then(() => true)
    if (!(await Promise.race([concluded, sleep(PATIENCE_MS, false, { ref: false })])))
      this.#found.add('lost', 'a reader or a command never came to its end')
    this.#host.signal('SIGTERM')
    await this.#host.exited()
    this.#found.add('orphan', ...this.#host.agentProcesses())
    // Agents are killed as well, also while no server runs.
    const mayLose = (why: string) => why.includes('the agent ended while no server was running')
    return checkLoad(this.#host, this.#load, this.#found, mayLose)
  }

  #progress(phase: Phase): string {
    const { prompts, answers, interrupts } = this.#load.history
    return `killed in ${phase}; prompts ${prompts.length} answers ${answers.length} interrupts ${interrupts.length}`
  }

  #survived(entries: number): Survived {
    const { prompts, answers, interrupts } = this.#load.history
    const counts = {
      sessions: this.#load.conversations.length,
      prompts: prompts.length,
      answers: answers.length,
      interrupts: interrupts.length,
      entries,
      agentsHurt: this.#tormentor.strikes,
    }
    return { found: this.#found, counts, kills: this.#kills }
  }
}
