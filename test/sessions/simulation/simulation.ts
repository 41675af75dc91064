import { ClientHistory } from '../../../faults/check/evidence.ts'
import { pick, type Random, randomFrom } from '../../../faults/random.ts'
import type { Session } from '../../../src/sessions/session.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { FakeTime } from '../fake-driver.ts'
import { house } from '../house.ts'
import { recordProblems } from '../recovery/record-problems.ts'
import { SimulatedAgent } from './simulation-agent.ts'
import { leaseProblems, lifeProblems, logsOf, settles } from './simulation-checks.ts'
import { SimulatedClient } from './simulation-client.ts'
import { SimulatedReader } from './simulation-reader.ts'
import { type OwnedStore, ownedStore, type Plant } from './simulation-store.ts'
import type { Simulated, Simulation } from './simulation-types.ts'

type House = ReturnType<typeof house>

export const STEPS = 32
const TTL_MS = 30_000
const MOST_SESSIONS = 3
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** One of the sessions of a life. */
interface Subject {
  id: string
  session: Session | undefined
  client: SimulatedClient
  reader: SimulatedReader
  before: string
}

/**
 * A few sessions through a random life: prompts with keys, texts, requests, deaths, interrupts, answers, time, storage
 * that fails, and servers that crash, drain, are suspended or lose the store while another one takes over, with a
 * reader on each log. Everything that happens is decided by the seed. At the end the logs are compared with what the
 * agents wrote and received.
 */
export async function simulate(seed: number, simulation: Simulation = {}): Promise<Simulated> {
  const { open = memoryStore, steps = STEPS, plant, without } = simulation
  const life = new Life(open, seed, plant)
  await life.begin()
  for (let step = 1; step <= steps && life.isWell; step++) if (!without?.has(step)) await life.step(step)
  return life.finish()
}

class Life {
  readonly #store: Store
  readonly #seed: number
  readonly #plant: Plant | undefined
  readonly #clients = new ClientHistory()
  readonly #agents: SimulatedAgent[] = []
  readonly #subjects: Subject[] = []
  readonly #states = new Set<string>()
  readonly #transitions = new Set<string>()
  readonly #trace: string[] = []
  readonly #problems: string[] = []
  readonly #launch: 'live' | 'oneshot'
  /** Every step has a sequence of its own, so that leaving one out changes no other. */
  #random: Random
  readonly #fences = new Map<string, number>()
  #owners = 0
  #owned: OwnedStore
  #house: House
  /** One that was replaced and does not know it yet. */
  #replaced: House | undefined
  #prompts = 0

  constructor(open: (monotonic: () => number) => Store, seed: number, plant: Plant | undefined) {
    this.#store = open(() => this.#house?.time.now ?? 0)
    this.#seed = seed
    this.#plant = plant
    this.#random = randomFrom(seed)
    this.#owned = ownedStore(this.#store, seed, plant, this.#fences)
    this.#house = this.#server('server-0', 10)
    this.#launch = this.#random() < 0.5 ? 'live' : 'oneshot'
  }

  get isWell(): boolean {
    return this.#problems.length === 0
  }

  /** A server on the store, with the time that it is now. */
  #server(owner: string, maxProcesses: number): House {
    const time = new FakeTime()
    time.now = this.#house?.time.now ?? 0
    const more = { terms: { owner, ttlMs: TTL_MS }, background: time, time }
    return house(this.#owned.store, { maxProcesses, ...more })
  }

  async begin(): Promise<void> {
    for (let count = 1 + Math.floor(this.#random() * MOST_SESSIONS); count > 0; count--) {
      const policy = { timeoutMs: 5_000 + Math.floor(this.#random() * 20_000), idleTimeoutMs: 4_000 }
      const more = { launch: this.#launch, attended: this.#random() < 0.7 }
      const session = await this.#house.open(policy, more)
      const client = new SimulatedClient(this.#store, this.#clients)
      const subject = { id: session.id, session, client, reader: new SimulatedReader(), before: 'new' }
      subject.reader.attach(this.#house.sessions, session.id)
      this.#subjects.push(subject)
    }
  }

  async step(step: number): Promise<void> {
    this.#random = randomFrom(Math.imul(this.#seed, 0x9e3779b1) + step)
    const subject = pick(this.#random, this.#subjects)
    const [name, act] = pick(this.#random, this.#actions)
    const acting = act.call(this, subject)
    // This one lets time pass itself, and all of it is bounded.
    await (name === 'cut' ? acting : this.#ends(`step ${step}, ${name},`, acting))
    for (let tick = Math.floor(this.#random() * 3); tick >= 0; tick--) await settle()
    this.#hear()
    await this.#note(subject, `${step} ${name}`)
    await settle()
    await this.#compareReaders()
    this.#problems.push(...(await leaseProblems(this.#store, this.#house.driver.runs)))
  }

  async #note(subject: Subject, what: string): Promise<void> {
    const record = await this.#store.record(subject.id)
    const now = `${record?.status}${record?.requests.length ? '?' : ''}${record?.queue.length ? '+' : ''}`
    this.#states.add(now)
    this.#transitions.add(`${subject.before} → ${now}`)
    this.#trace.push(`${what}: ${subject.before} → ${now}`)
    subject.before = now
  }

  readonly #actions: readonly (readonly [name: string, act: (subject: Subject) => Promise<void>])[] = [
    ['prompt', this.#prompt],
    ['prompt', this.#prompt],
    ['prompt', this.#prompt],
    ['retry', this.#retry],
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
    ['change', this.#change],
    ['change', this.#change],
    ['interrupt', this.#interrupt],
    ['drop', this.#drop],
    ['pass', this.#pass],
    ['pass', this.#pass],
    ['fail', this.#failStorage],
    ['crash', this.#crash],
    ['replace', this.#replace],
    ['replace', this.#replace],
    ['cut', this.#cut],
    ['wake', this.#wake],
    ['drain', this.#drain],
    ['end', this.#end],
  ]

  /** The owner is killed for good, another one recovers, and every log must be whole. */
  async finish(): Promise<Simulated> {
    this.#owned.kill()
    this.#house.time.now += TTL_MS
    this.#owned = ownedStore(this.#store, this.#seed)
    const heir = this.#server('heir', 10)
    await heir.sessions.recover()
    const before = await logsOf(this.#store, this.#ids)
    await heir.sessions.recover()
    for (const { id, reader } of this.#subjects) reader.attach(heir.sessions, id)
    await settle()
    const logs = await logsOf(this.#store, this.#ids)
    for (const [id, entries] of logs) {
      if (entries.length !== before.get(id)?.length) this.#problems.push('recovering twice wrote twice')
    }
    await this.#compareReaders()
    this.#problems.push(...(await lifeProblems(this.#store, logs, this.#agents, this.#clients)))
    for (const { client } of this.#subjects) this.#problems.push(...client.broken)
    for (const { reader } of this.#subjects) reader.leave()
    return {
      states: this.#states,
      transitions: this.#transitions,
      trace: this.#trace,
      problems: this.#problems,
    }
  }

  get #ids(): string[] {
    return this.#subjects.map(({ id }) => id)
  }

  async #compareReaders(): Promise<void> {
    const logs = await logsOf(this.#store, this.#ids)
    for (const { id, reader } of this.#subjects) {
      const log = logs.get(id) ?? []
      this.#problems.push(...reader.problems(log), ...recordProblems(log, await this.#store.record(id)))
    }
  }

  /** Every agent reads what was written to it. */
  #hear(): void {
    for (const { driver } of this.#houses) {
      for (const run of driver.runs) {
        if (!this.#agents.some((agent) => agent.run === run)) this.#agents.push(new SimulatedAgent(run))
      }
    }
    for (const agent of this.#agents) agent.hear()
  }

  get #houses(): House[] {
    return [this.#house, ...(this.#replaced ? [this.#replaced] : [])]
  }

  /** The last process of this session, in each house that has one. */
  #agentsOf({ id }: Subject): SimulatedAgent[] {
    this.#hear()
    return this.#houses.flatMap(({ driver }) => {
      const run = driver.runs.findLast(({ context }) => context.runId.startsWith(id))
      return this.#agents.filter((agent) => agent.run === run)
    })
  }

  async #prompt({ session, client }: Subject): Promise<void> {
    if (!session) return
    const prompted = client.prompt(this.#house.sessions, session, `p${++this.#prompts} go`)
    if (this.#random() < 0.7) await prompted
  }

  async #retry({ session, client }: Subject): Promise<void> {
    if (session) await client.retry(this.#house.sessions, session)
  }

  async #speak(subject: Subject): Promise<void> {
    for (const agent of this.#agentsOf(subject)) agent.speak()
  }

  async #finishTurn(subject: Subject): Promise<void> {
    this.#agentsOf(subject)[0]?.finish(this.#random() < 0.8)
  }

  async #ask(subject: Subject): Promise<void> {
    this.#agentsOf(subject)[0]?.ask()
  }

  async #answer({ id, session, client }: Subject): Promise<void> {
    const requests = (await this.#store.record(id))?.requests ?? []
    for (const { requestId } of requests) {
      const decision = this.#random() < 0.5 ? 'allow' : 'deny'
      if (session) await client.answer(session, requestId, decision)
    }
  }

  async #die(subject: Subject): Promise<void> {
    this.#agentsOf(subject)[0]?.run.die(this.#random() < 0.5 ? { code: 1 } : { signal: 'SIGKILL' })
  }

  async #interrupt({ session, client }: Subject): Promise<void> {
    if (session) client.interrupt(session).catch(() => undefined)
    if (this.#random() < 0.3) await this.#house.time.pass(3_000)
  }

  /** Takes back a prompt that waits. */
  async #drop({ id, session }: Subject): Promise<void> {
    const waiting = (await this.#store.record(id))?.queue ?? []
    if (waiting.length > 0) await session?.interrupt(pick(this.#random, waiting).turn).catch(() => undefined)
  }

  async #pass(): Promise<void> {
    await this.#house.time.pass(Math.floor(this.#random() * 8_000))
  }

  /** The next commit of this session is refused. */
  async #failStorage({ id }: Subject): Promise<void> {
    if (this.#random() < 0.5) this.#owned.refuse(id)
  }

  /** Changes a setting, also on a server that was replaced: that writes the record and no entry. */
  async #change({ id }: Subject): Promise<void> {
    const model = `m${Math.floor(this.#random() * 9)}`
    const [current] = this.#houses
      .map(({ sessions }) => sessions.get(id)?.change({ type: 'set_model', model }))
      .map((changing) => changing?.catch(() => undefined))
    // A server that is suspended may never answer.
    await current
  }

  /** kill -9: memory and processes are gone. The same server starts again, or another one when the lease has ended. */
  async #crash(): Promise<void> {
    this.#owned.kill()
    if (this.#random() < 0.5) return this.#succeed(this.#owners)
    this.#house.time.now += TTL_MS
    await this.#succeed()
  }

  /** The server is suspended until another one has taken over, and then continues unaware. */
  async #replace(): Promise<void> {
    this.#replaced = this.#house
    const { time } = this.#house
    const suspended = time.now
    time.now += TTL_MS
    await this.#succeed()
    time.now = suspended
  }

  /** The server that was replaced wakes, with all its timers late. */
  async #wake(): Promise<void> {
    const replaced = this.#replaced
    if (replaced) await replaced.time.jump(this.#house.time.now - replaced.time.now)
  }

  /** The server cannot reach the store, until another one has taken over. */
  async #cut(): Promise<void> {
    const [owned, before] = [this.#owned, this.#house]
    owned.cut()
    for (let passed = 0; passed < TTL_MS; passed += 1_000) {
      await before.time.pass(1_000)
      this.#problems.push(...(await leaseProblems(this.#store, this.#house.driver.runs)))
    }
    this.#replaced = before
    await this.#ends('a takeover', this.#succeed())
    owned.heal()
  }

  /** The owner stops in order, and another one takes over. */
  async #drain(): Promise<void> {
    await this.#ends('an owner that drains', this.#house.sessions.drain())
    this.#owned.kill()
    await this.#succeed()
  }

  async #end({ id }: Subject): Promise<void> {
    if (this.#random() < 0.8) return
    await this.#ends('a session that is ended', this.#house.sessions.end(id))
  }

  /** Every command has to settle in a bounded time. */
  async #ends(what: string, ending: Promise<unknown>): Promise<void> {
    if (!(await settles(ending, () => this.#house.time))) this.#problems.push(`${what} does not end`)
  }

  async #succeed(owner = ++this.#owners): Promise<void> {
    this.#hear()
    this.#owned = ownedStore(this.#store, this.#seed + owner, this.#plant, this.#fences)
    this.#house = this.#server(`server-${owner}`, 1 + Math.floor(this.#random() * 3))
    await this.#house.sessions.recover()
    if (this.#random() < 0.7) await this.#house.sessions.resumeQueues()
    for (const subject of this.#subjects) {
      subject.session = await this.#house.sessions.open(subject.id).catch(() => undefined)
      subject.reader.attach(this.#house.sessions, subject.id)
    }
  }
}
