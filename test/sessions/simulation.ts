import type { Entry } from '../../src/model/index.ts'
import type { Session } from '../../src/sessions/session.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Store } from '../../src/stores/store.ts'
import { violations } from '../agents/invariants.ts'
import type { FakeRun } from './fake-driver.ts'
import { asks, house, init, result, said } from './house.ts'

/** What a run of the simulation came to: the states it passed through, and what went wrong. */
export interface Simulated {
  transitions: Set<string>
  problems: string[]
}

type House = ReturnType<typeof house>
type Random = () => number

/** A generator whose whole sequence is its seed. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

/**
 * One session through a random life: prompts, frames, deaths, interrupts, answers, time, and owners that go away
 * in the middle of it. Everything that happens is decided by the seed.
 */
export async function simulate(
  seed: number,
  open: () => Store = memoryStore,
  steps = 24,
): Promise<Simulated> {
  const random = randomFrom(seed)
  const store = open()
  const life = new Life(store, random)
  await life.begin()
  for (let step = 0; step < steps; step++) await life.step()
  return life.finish()
}

class Life {
  readonly #store: Store
  readonly #random: Random
  readonly #transitions = new Set<string>()
  readonly #accepted = new Set<number>()
  readonly #launch: 'live' | 'oneshot'
  #kill: () => void = () => undefined
  #house: House
  #id = ''
  #session: Session | undefined
  #frames = 0
  #before = 'new'

  constructor(store: Store, random: Random) {
    this.#store = store
    this.#random = random
    this.#house = this.#owner()
    this.#launch = random() < 0.5 ? 'live' : 'oneshot'
  }

  /** An owner whose writes stop for good when it is killed. */
  #owner(): House {
    const { store, kill } = mortal(this.#store)
    this.#kill = kill
    return house(store, 1 + Math.floor(this.#random() * 3))
  }

  async begin(): Promise<void> {
    const policy = { timeoutMs: 5_000 + Math.floor(this.#random() * 20_000), idleTimeoutMs: 4_000 }
    this.#session = await this.#house.open(policy, { launch: this.#launch, attended: this.#random() < 0.7 })
    this.#id = this.#session.id
  }

  async step(): Promise<void> {
    const actions = [
      this.#prompt,
      this.#prompt,
      this.#speak,
      this.#speak,
      this.#speak,
      this.#finishTurn,
      this.#ask,
      this.#answer,
      this.#die,
      this.#interrupt,
      this.#pass,
      this.#crash,
    ]
    const action = actions[Math.floor(this.#random() * actions.length)]
    await action?.call(this)
    for (let tick = Math.floor(this.#random() * 3); tick >= 0; tick--) await settle()
    const record = await this.#store.record(this.#id)
    const now = `${record?.status}${record?.requests.length ? '?' : ''}${record?.queue.length ? '+' : ''}`
    this.#transitions.add(`${this.#before} → ${now}`)
    this.#before = now
  }

  /** The owner goes away for good, another one recovers, and the log must be whole. */
  async finish(): Promise<Simulated> {
    this.#kill()
    const heir = house(this.#store)
    await heir.sessions.recover()
    const head = await this.#store.head(this.#id)
    await heir.sessions.recover()
    const entries = await this.#store.read(this.#id, 0, 100_000)
    const problems = violations(entries)
    if ((await this.#store.head(this.#id)) !== head) problems.push('recovering twice wrote twice')
    problems.push(...this.#turnProblems(entries))
    return { transitions: this.#transitions, problems }
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
    this.#run?.say(init, said('word', `m${++this.#frames}`))
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

  async #pass(): Promise<void> {
    await this.#house.time.pass(Math.floor(this.#random() * 8_000))
  }

  /** kill -9: the owner's memory is gone, its processes too; whatever it had committed is all there is. */
  async #crash(): Promise<void> {
    if (this.#random() < 0.6) return
    const { now } = this.#house.time
    this.#kill()
    this.#house = this.#owner()
    this.#house.time.now = now
    await this.#house.sessions.recover()
    if (this.#random() < 0.7) await this.#house.sessions.resumeQueues()
    this.#session = await this.#house.sessions.open(this.#id).catch(() => undefined)
  }
}

/** A store that its owner can write to only as long as it lives. */
function mortal(store: Store): { store: Store; kill(): void } {
  let alive = true
  const guarded = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'append' && name !== 'create') return value.bind(target)
      return (...args: unknown[]) => (alive ? value.apply(target, args) : new Promise(() => undefined))
    },
  })
  return {
    store: guarded,
    kill() {
      alive = false
    },
  }
}
