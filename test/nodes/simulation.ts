import { ClientHistory, type SentPrompt } from '../../faults/check/evidence.ts'
import { type Random, randomFrom } from '../../faults/random.ts'
import type { SessionHandle } from '../../src/sessions/session-handle.ts'
import { FakeTime } from '../sessions/fake-driver.ts'
import { SimulatedAgent } from '../sessions/simulation/simulation-agent.ts'
import { lifeProblems, logsOf } from '../sessions/simulation/simulation-checks.ts'
import { SimulatedClient } from '../sessions/simulation/simulation-client.ts'
import { sharedMemoryStore } from '../stores/shared-memory.ts'
import { type SharedStore, TestNode, TTL } from './cluster.ts'
import { type NodePlant, type SeenStore, seenBy } from './simulation-store.ts'

const NODES = ['a', 'b', 'c'] as const
const STEPS = 60
/** Stopping an agent takes ten seconds at most, and these take all of it. */
const STOP_MS = 10_000
/** Longer than a command may take while sessions change hands. */
const PATIENCE_MS = 3 * TTL

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A random life of three servers on one store, whose clients send each command to any of them. */
export async function simulateNodes(seed: number, plant?: NodePlant): Promise<string[]> {
  const life = new NodeLife(seed, plant)
  await life.begin()
  for (let step = 1; step <= STEPS && life.isWell; step++) await life.step()
  return life.finish()
}

class NodeLife {
  readonly #random: Random
  readonly #plant: NodePlant | undefined
  readonly #time = new FakeTime()
  readonly #store: SharedStore
  readonly #clients = new ClientHistory()
  readonly #clientOf = new Map<string, SimulatedClient>()
  readonly #agents: SimulatedAgent[] = []
  readonly #nodes = new Map<string, { node: TestNode; seen: SeenStore }>()
  readonly #everyNode: TestNode[] = []
  readonly #stores: SeenStore[] = []
  readonly #problems: string[] = []
  /** Commands without an answer. */
  readonly #open = new Set<Promise<unknown>>()
  #ids: string[] = []
  #prompts = 0
  #processes = 0

  constructor(seed: number, plant: NodePlant | undefined) {
    this.#random = randomFrom(seed)
    this.#plant = plant
    this.#store = sharedMemoryStore(() => this.#time.now)
  }

  get isWell(): boolean {
    return this.#problems.length === 0
  }

  async begin(): Promise<void> {
    for (const name of NODES) await this.#start(name)
    for (let count = 0; count < 2; count++) {
      const request = { agent: 'claude', cwd: '/', policy: { approval: 'ask', sandbox: 'none' } } as const
      const { id } = await this.#any.cluster.create(request)
      this.#ids.push(id)
      this.#clientOf.set(id, new SimulatedClient(this.#store, this.#clients))
    }
  }

  async step(): Promise<void> {
    const act = this.#pick(this.#actions)
    await act.call(this, this.#pick(this.#ids))
    for (let tick = Math.floor(this.#random() * 4); tick >= 0; tick--) await settle()
    this.#hear()
    this.#checkAlone()
  }

  readonly #actions: readonly ((id: string) => Promise<void>)[] = [
    this.#prompt,
    this.#prompt,
    this.#prompt,
    this.#retry,
    this.#speak,
    this.#speak,
    this.#speak,
    this.#finishTurn,
    this.#finishTurn,
    this.#ask,
    this.#ask,
    this.#answer,
    this.#answer,
    this.#interrupt,
    this.#pass,
    this.#pass,
    this.#cut,
    this.#hang,
    this.#hang,
    this.#dieBeforeOutcome,
    this.#dieBeforeOutcome,
    this.#stop,
  ]

  async finish(): Promise<string[]> {
    // Every command is answered, also those whose owner went away meanwhile.
    await this.#passUntil(() => this.#open.size === 0)
    if (this.#open.size > 0) this.#problems.push(`${this.#open.size} commands have no answer`)
    // Also those that hung and run on.
    for (const { cut } of this.#stores) cut()
    this.#nodes.clear()
    await this.#passTime(TTL)
    // It settles what was left open, and starts nothing.
    await this.#node('heir').node.sessions.recover()
    this.#hear()
    const logs = await logsOf(this.#store, this.#ids)
    this.#problems.push(...(await lifeProblems(this.#store, logs, this.#agents, this.#clients)))
    for (const { broken } of this.#clientOf.values()) this.#problems.push(...broken)
    return this.#problems
  }

  #node(name: string): { node: TestNode; seen: SeenStore } {
    const process = `process-${++this.#processes}`
    const seen = seenBy(this.#plant)
    const node = new TestNode(name, process, {
      time: this.#time,
      store: this.#store,
      seen: seen.store,
      ...(this.#plant === 'late-fence' && { lateMs: 5_000 }),
    })
    node.driver.onStart = (run) => {
      run.onStop = () => void this.#time.sleep(STOP_MS, NEVER).then(() => run.die({ signal: 'SIGKILL' }))
    }
    this.#everyNode.push(node)
    this.#stores.push(seen)
    return { node, seen }
  }

  async #start(name: string): Promise<void> {
    const made = this.#node(name)
    await this.#ends(`the start of ${name}`, made.node.start())
    this.#nodes.set(name, made)
  }

  get #any(): TestNode {
    return this.#pick([...this.#nodes.values()]).node
  }

  async #handle(id: string): Promise<[SimulatedClient, SessionHandle, TestNode]> {
    const node = this.#any
    const client = this.#clientOf.get(id)
    if (!client) throw new Error(`session ${id} has no client`)
    return [client, await node.cluster.open(id), node]
  }

  #pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.#random() * list.length)]
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }

  /** Commands are not waited for: others overtake them. */
  #track(command: Promise<unknown>): void {
    const tracked = command.catch(() => undefined).finally(() => this.#open.delete(tracked))
    this.#open.add(tracked)
  }

  async #prompt(id: string): Promise<void> {
    const [client, session, node] = await this.#handle(id)
    this.#track(client.prompt(node.sessions, session, `p${++this.#prompts} go`))
  }

  async #retry(id: string): Promise<void> {
    const [client, session, node] = await this.#handle(id)
    this.#track(client.retry(node.sessions, session))
  }

  async #answer(id: string): Promise<void> {
    const [client, session] = await this.#handle(id)
    const decision = this.#random() < 0.5 ? 'allow' : 'deny'
    for (const { requestId } of (await this.#store.record(id))?.requests ?? [])
      this.#track(client.answer(session, requestId, decision))
  }

  async #interrupt(id: string): Promise<void> {
    const [client, session] = await this.#handle(id)
    this.#track(client.interrupt(session))
  }

  async #speak(id: string): Promise<void> {
    for (const agent of this.#agentsOf(id)) agent.speak()
  }

  async #finishTurn(id: string): Promise<void> {
    for (const agent of this.#agentsOf(id)) agent.finish(false)
  }

  async #ask(id: string): Promise<void> {
    for (const agent of this.#agentsOf(id)) agent.ask()
  }

  async #pass(): Promise<void> {
    await this.#passTime(Math.floor(this.#random() * 12_000))
  }

  /** A node loses the store for good: it must end its agents by itself. Another process replaces it. */
  async #cut(): Promise<void> {
    if (this.#random() < 0.5 || this.#nodes.size < NODES.length) return
    const name = this.#pick([...this.#nodes.keys()])
    this.#nodes.get(name)?.seen.cut()
    this.#nodes.delete(name)
    await this.#passTime(TTL + 2_000)
    await this.#start(`${name}${this.#processes}`)
  }

  /** What a node asks of the store is delayed until another one has taken over, and happens then. */
  async #hang(): Promise<void> {
    if (this.#nodes.size < NODES.length) return
    const name = this.#pick([...this.#nodes.keys()])
    const release = this.#nodes.get(name)?.seen.hold()
    this.#nodes.delete(name)
    for (const id of this.#ids) for (const agent of this.#agentsOf(id)) agent.speak()
    await this.#passTime(TTL + 2_000)
    release?.()
    await this.#start(`${name}${this.#processes}`)
  }

  /** The owner of a session applies a command, and dies before it can tell. The command has no key of its client. */
  async #dieBeforeOutcome(id: string): Promise<void> {
    const owner = (await this.#store.nodes.ownerOf(id)) ?? ''
    const dying = this.#nodes.get(owner)
    if (!dying || this.#nodes.size < NODES.length) return
    this.#nodes.delete(owner)
    dying.seen.cutBySettling()
    const prompt: SentPrompt = { text: `p${++this.#prompts} go` }
    this.#clients.prompts.push(prompt)
    const session = await this.#any.cluster.open(id)
    this.#track(session.prompt(prompt.text).then((turn) => Object.assign(prompt, { session: id, turn })))
    for (let tick = 0; tick < 10; tick++) await settle()
    dying.seen.cut()
    await this.#passTime(TTL + 2_000)
    await this.#start(`${owner}${this.#processes}`)
  }

  /** A node stops in order, and another one replaces it. */
  async #stop(): Promise<void> {
    if (this.#random() < 0.5 || this.#nodes.size < NODES.length) return
    const name = this.#pick([...this.#nodes.keys()])
    const node = this.#nodes.get(name)?.node
    this.#nodes.delete(name)
    if (node) await this.#ends(`the stop of ${name}`, node.stop())
    await this.#start(`${name}${this.#processes}`)
  }

  #hear(): void {
    for (const { driver } of this.#everyNode) {
      for (const run of driver.runs) {
        if (!this.#agents.some((agent) => agent.run === run)) this.#agents.push(new SimulatedAgent(run))
      }
    }
    for (const agent of this.#agents) agent.hear()
  }

  #agentsOf(id: string): SimulatedAgent[] {
    this.#hear()
    return this.#agents.filter(({ run }) => run.isAlive && run.context.runId.startsWith(id)).slice(-1)
  }

  /** An agent is gone before another one may begin in its session. */
  #checkAlone(): void {
    for (const id of this.#ids) {
      const alive = this.#everyNode.filter(({ driver }) =>
        driver.runs.some((run) => run.isAlive && run.context.runId.startsWith(id)),
      )
      if (alive.length > 1) this.#problems.push(`agents of ${alive.length} nodes run in ${id}`)
    }
  }

  /** In small steps, so that what is only wrong for a while is seen. */
  async #passTime(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await this.#time.pass(Math.min(1_000, ms - passed))
      this.#hear()
      this.#checkAlone()
      await this.#checkLeases()
    }
  }

  async #checkLeases(): Promise<void> {
    for (const id of this.#ids) {
      if ((await this.#store.nodes.ownerOf(id)) !== undefined) continue
      const isRunning = this.#everyNode.some(({ driver }) =>
        driver.runs.some((run) => run.isAlive && run.context.runId.startsWith(id)),
      )
      if (isRunning) this.#problems.push(`an agent of ${id} still runs when the lease of its node has ended`)
    }
  }

  async #passUntil(isOver: () => boolean): Promise<void> {
    for (let passed = 0; passed < PATIENCE_MS && !isOver(); passed += 1_000) await this.#passTime(1_000)
  }

  async #ends(what: string, ending: Promise<unknown>): Promise<void> {
    let over = false
    const ended = () => {
      over = true
    }
    void ending.then(ended, ended)
    for (let tick = 0; tick < 20 && !over; tick++) await settle()
    await this.#passUntil(() => over)
    if (!over) this.#problems.push(`${what} does not end`)
  }
}

const NEVER = new AbortController().signal
