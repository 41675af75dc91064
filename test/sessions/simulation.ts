import { pick, type Random, randomFrom } from '../../scripts/random.ts'
import type { Entry } from '../../src/model/index.ts'
import type { Session } from '../../src/sessions/session.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Store } from '../../src/stores/store.ts'
import { violations } from '../agents/invariants.ts'
import type { FakeRun } from './fake-driver.ts'
import { asks, house, init, result, said } from './house.ts'
import { SimulatedReader } from './simulation-reader.ts'
import { type OwnedStore, ownedStore, type Plant } from './simulation-store.ts'

/** What a life came to: the states it passed through, what happened in it, and what went wrong. */
export interface Simulated {
  states: Set<string>
  transitions: Set<string>
  trace: string[]
  problems: string[]
}

export interface Simulation {
  open?: () => Store
  steps?: number
  plant?: Plant | undefined
  /** Steps that are left out. */
  without?: ReadonlySet<number>
}

type House = ReturnType<typeof house>

export const STEPS = 24
const LONGEST_STOP_MS = 20_000
/** What needs no time to pass is over before. */
const PATIENT_TICKS = 20
const settle = () => new Promise((resolve) => setImmediate(resolve))

/**
 * One session through a random life: prompts, frames, deaths, interrupts, answers, time, and owners that go away
 * in the middle of it, while somebody reads along. Everything that happens is decided by the seed.
 */
export async function simulate(seed: number, simulation: Simulation = {}): Promise<Simulated> {
  const { open = memoryStore, steps = STEPS, plant, without } = simulation
  const life = new Life(open(), seed, plant)
  await life.begin()
  for (let step = 1; step <= steps && life.isWell; step++) if (!without?.has(step)) await life.step(step)
  return life.finish()
}

class Life {
  readonly #store: Store
  readonly #seed: number
  readonly #plant: Plant | undefined
  readonly #reader = new SimulatedReader()
  readonly #states = new Set<string>()
  readonly #transitions = new Set<string>()
  readonly #trace: string[] = []
  readonly #problems: string[] = []
  readonly #accepted = new Set<number>()
  readonly #launch: 'live' | 'oneshot'
  /** Every step has a sequence of its own, so that leaving one out changes no other. */
  #random: Random
  #owners = 0
  #owned: OwnedStore
  #house: House
  /** One that was replaced and does not know it yet. */
  #replaced: House | undefined
  #id = ''
  #session: Session | undefined
  #frames = 0
  #before = 'new'

  constructor(store: Store, seed: number, plant: Plant | undefined) {
    this.#store = store
    this.#seed = seed
    this.#plant = plant
    this.#random = randomFrom(seed)
    this.#owned = ownedStore(store, seed, plant)
    this.#house = house(this.#owned.store)
    this.#launch = this.#random() < 0.5 ? 'live' : 'oneshot'
  }

  get isWell(): boolean {
    return this.#problems.length === 0
  }

  #owner(): House {
    this.#owned = ownedStore(this.#store, this.#seed + ++this.#owners, this.#plant)
    return house(this.#owned.store, 1 + Math.floor(this.#random() * 3))
  }

  async begin(): Promise<void> {
    const policy = { timeoutMs: 5_000 + Math.floor(this.#random() * 20_000), idleTimeoutMs: 4_000 }
    this.#session = await this.#house.open(policy, { launch: this.#launch, attended: this.#random() < 0.7 })
    this.#id = this.#session.id
    this.#reader.attach(this.#house.sessions, this.#id)
  }

  async step(step: number): Promise<void> {
    this.#random = randomFrom(Math.imul(this.#seed, 0x9e3779b1) + step)
    const [name, act] = pick(this.#random, this.#actions)
    await this.#ends(`step ${step}, ${name},`, act.call(this))
    for (let tick = Math.floor(this.#random() * 3); tick >= 0; tick--) await settle()
    const record = await this.#store.record(this.#id)
    const now = `${record?.status}${record?.requests.length ? '?' : ''}${record?.queue.length ? '+' : ''}`
    this.#states.add(now)
    this.#transitions.add(`${this.#before} → ${now}`)
    this.#trace.push(`${step} ${name}: ${this.#before} → ${now}`)
    this.#before = now
    await settle()
    this.#problems.push(...this.#reader.problems(await this.#entries()))
  }

  readonly #actions: readonly (readonly [name: string, act: () => Promise<void>])[] = [
    ['prompt', this.#prompt],
    ['prompt', this.#prompt],
    ['prompt', this.#prompt],
    ['say', this.#speak],
    ['say', this.#speak],
    ['say', this.#speak],
    ['say', this.#speak],
    ['finish', this.#finishTurn],
    ['finish', this.#finishTurn],
    ['ask', this.#ask],
    ['ask', this.#ask],
    ['answer', this.#answer],
    ['answer', this.#answer],
    ['die', this.#die],
    ['interrupt', this.#interrupt],
    ['drop', this.#drop],
    ['pass', this.#pass],
    ['pass', this.#pass],
    ['crash', this.#crash],
    ['replace', this.#replace],
    ['drain', this.#drain],
    ['end', this.#end],
  ]

  /** The owner goes away for good, another one recovers, and the log must be whole. */
  async finish(): Promise<Simulated> {
    this.#owned.kill()
    const heir = house(this.#store)
    await heir.sessions.recover()
    const { length } = await this.#entries()
    await heir.sessions.recover()
    this.#reader.attach(heir.sessions, this.#id)
    await settle()
    const entries = await this.#entries()
    if (entries.length !== length) this.#problems.push('recovering twice wrote twice')
    this.#problems.push(...violations(entries), ...this.#turnProblems(entries))
    this.#problems.push(...this.#reader.problems(entries))
    this.#reader.leave()
    return {
      states: this.#states,
      transitions: this.#transitions,
      trace: this.#trace,
      problems: this.#problems,
    }
  }

  #entries(): Promise<readonly Entry[]> {
    return this.#store.read(this.#id, 0, 100_000)
  }

  #turnProblems(entries: readonly Entry[]): string[] {
    const ends = new Map<number, number>()
    const waiting = new Set<number>()
    for (const { event } of entries) {
      if (event.type === 'turn.queued') waiting.add(event.turn)
      if (event.type === 'turn.completed') ends.set(event.turn, (ends.get(event.turn) ?? 0) + 1)
      if (event.type === 'turn.completed') waiting.delete(event.turn)
    }
    return [...this.#accepted].flatMap((turn) => {
      const count = ends.get(turn) ?? 0
      if (count === 1 || (count === 0 && waiting.has(turn))) return []
      return [`turn ${turn} has ${count} terminal events`]
    })
  }

  get #run(): FakeRun | undefined {
    return this.#house.driver.runs.at(-1)
  }

  async #prompt(): Promise<void> {
    const prompted = this.#session?.prompt(`p${this.#random()}`).then(
      (turn) => this.#accepted.add(turn),
      () => undefined,
    )
    if (this.#random() < 0.7) await prompted
  }

  async #speak(): Promise<void> {
    for (const { driver } of [this.#house, ...(this.#replaced ? [this.#replaced] : [])]) {
      driver.runs.at(-1)?.say(init, said('word', `m${++this.#frames}`))
    }
  }

  async #finishTurn(): Promise<void> {
    this.#run?.say(result('done'))
    if (this.#launch === 'oneshot' && this.#random() < 0.8) this.#run?.die({ code: 0 })
  }

  async #ask(): Promise<void> {
    if (this.#launch === 'live') this.#run?.say(asks(`q${++this.#frames}`))
  }

  async #answer(): Promise<void> {
    const requests = (await this.#store.record(this.#id))?.requests ?? []
    for (const { requestId } of requests) {
      const decision = this.#random() < 0.5 ? 'allow' : 'deny'
      await this.#session?.answer({ type: 'answer', requestId, decision }).catch(() => undefined)
    }
  }

  async #die(): Promise<void> {
    this.#run?.die(this.#random() < 0.5 ? { code: 1 } : { signal: 'SIGKILL' })
  }

  async #interrupt(): Promise<void> {
    this.#session?.interrupt().catch(() => undefined)
    if (this.#random() < 0.3) await this.#house.time.pass(3_000)
  }

  /** A prompt that waits is taken back. */
  async #drop(): Promise<void> {
    const waiting = (await this.#store.record(this.#id))?.queue ?? []
    if (waiting.length > 0)
      await this.#session?.interrupt(pick(this.#random, waiting).turn).catch(() => undefined)
  }

  async #pass(): Promise<void> {
    await this.#house.time.pass(Math.floor(this.#random() * 8_000))
  }

  /** kill -9: the owner's memory is gone, its processes too; whatever it had committed is all there is. */
  async #crash(): Promise<void> {
    this.#owned.kill()
    await this.#succeed()
  }

  /** The owner is held up, another one takes over, and then the first goes on as if nothing had happened. */
  async #replace(): Promise<void> {
    this.#owned.fence()
    this.#replaced = this.#house
    await this.#succeed()
  }

  /** The owner stops in order, and another one takes over. */
  async #drain(): Promise<void> {
    await this.#ends('an owner that drains', this.#house.sessions.drain())
    this.#owned.kill()
    await this.#succeed()
  }

  async #end(): Promise<void> {
    if (this.#random() < 0.8) return
    await this.#ends('a session that is ended', this.#house.sessions.end(this.#id))
  }

  /** Whatever is asked for has to come to its end in a bounded time. */
  async #ends(what: string, ending: Promise<unknown>): Promise<void> {
    let over = false
    const ended = () => {
      over = true
    }
    // A refusal is an end as well.
    void ending.then(ended, ended)
    for (let tick = 0; tick < PATIENT_TICKS && !over; tick++) await settle()
    for (let passed = 0; passed < LONGEST_STOP_MS && !over; passed += 1_000)
      await this.#house.time.pass(1_000)
    if (!over) this.#problems.push(`${what} does not end`)
  }

  async #succeed(): Promise<void> {
    const { now } = this.#house.time
    this.#house = this.#owner()
    this.#house.time.now = now
    await this.#house.sessions.recover()
    if (this.#random() < 0.7) await this.#house.sessions.resumeQueues()
    this.#session = await this.#house.sessions.open(this.#id).catch(() => undefined)
    this.#reader.attach(this.#house.sessions, this.#id)
  }
}
