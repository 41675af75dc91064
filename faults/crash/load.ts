import { ClientHistory } from '../check/evidence.ts'
import { pick, type Random } from '../random.ts'
import { AllEvents } from './all-events.ts'
import { Client, type Conversation } from './client.ts'
import { execute, type Message, ndjson, polling, socket, sse } from './protocols.ts'
import { Reader } from './reader.ts'
import type { Target } from './target.ts'

/** Which agents run and what their prompts order; see `fakes/actor.ts` for the orders. */
export interface LoadSettings {
  agents: readonly (readonly [agent: string, launch: 'live' | 'oneshot'])[]
  scripts: readonly string[]
  /** Part of every burst, so that each burst passes the points that only this agent and script pass. */
  always?: { readonly agent: readonly [agent: string, launch: 'live' | 'oneshot']; readonly script: string }
  /** Sessions that are open at once; the oldest is ended for a new one. */
  open: number
}

/** A value that fake agents print and no log may show. */
export const SECRET = 'fake-secret-0123456789'
const POLICY = { approval: 'ask', sandbox: 'none' }
const SECOND_READERS = [
  ['ndjson', ndjson],
  ['socket', socket],
  ['polling', polling],
] as const

/** Clients at work: they create sessions, send prompts, answer requests, interrupt, read, end and delete. */
export class Load {
  readonly history = new ClientHistory()
  readonly readers: Reader[] = []
  readonly tasks: { reader: Reader; task: Record<string, unknown> }[] = []
  readonly conversations: Conversation[] = []
  readonly allEvents: readonly AllEvents[]
  readonly client: Client
  /** Whether requests are answered; a turn that waits for an answer stays open. */
  answers = true
  /** Sessions that another principal could see. */
  readonly seen: string[] = []
  readonly #target: Target
  readonly #random: Random
  readonly #settings: LoadSettings
  #count = 0

  constructor(target: Target, random: Random, settings: LoadSettings) {
    this.#target = target
    this.#random = random
    this.#settings = settings
    this.client = new Client(target, this.history)
    this.allEvents = [...target.principals.keys()].map((principal) => new AllEvents(target, principal))
  }

  /** Many commands at once: new sessions, two prompts for each open one, an end, a delete and a task. */
  async press(created: number): Promise<void> {
    const open = this.#open()
    for (const one of open.slice(0, Math.max(0, open.length - this.#settings.open))) this.#retire(one)
    await Promise.all([
      this.client.retry(Math.floor(this.#random() * 1000)),
      ...this.#unbegun().map((one) => this.#begin(one)),
      ...Array.from({ length: created }, (_, index) =>
        this.#begin(index === 0 ? this.#conversation(this.#settings.always) : this.#conversation()),
      ),
      ...open.slice(1).flatMap((one) => [this.#prompt(one), this.#prompt(one)]),
      ...open.slice(0, 2).map((one) => this.client.interrupt(one)),
      this.#closeRetired(),
      this.#execute(),
    ])
  }

  /** One command, chosen at random. */
  async tick(): Promise<void> {
    const open = this.#open()
    if (open.length < this.#settings.open) return this.#begin(this.#unbegun()[0] ?? this.#conversation())
    const one = pick(this.#random, open)
    const chance = this.#random()
    if (chance < 0.45) return this.#prompt(one)
    if (chance < 0.75) return this.client.interrupt(one)
    if (chance < 0.8) {
      this.#retire(one)
      return this.#closeRetired()
    }
    if (chance < 0.9) return this.client.retry(Math.floor(this.#random() * 1000))
    pick(this.#random, [...this.readers.slice(-2 * this.#settings.open), ...this.allEvents]).cut()
    const status = await this.client.spy(one)
    if (status === 200) this.seen.push(`${one.session} of ${one.principal}`)
  }

  /** Ends everything: no command is left without an answer, and every reader gets the rest. */
  async conclude(): Promise<void> {
    for (let open = this.#unbegun(); open.length > 0; open = this.#unbegun()) {
      for (const one of open) await this.#begin(one)
      // Makes room: a server refuses more sessions than it may have.
      if (this.#unbegun().length > 0) await this.#closeAll()
    }
    while (!this.client.isSettled) await this.client.retry(0)
    // The same keys again: they must lead to the same sessions, and to none where the session was deleted.
    await Promise.all(this.conversations.map((one) => this.#begin(one)))
    await this.#closeAll()
    await Promise.all(this.readers.map(({ ended }) => ended))
    for (const reader of this.allEvents) reader.stop()
  }

  /** What `conclude` waits for. */
  get unfinished(): string[] {
    const readers = this.readers.filter(({ isEnded }) => !isEnded).map(({ place }) => place)
    const sessions = this.#unbegun().map(
      ({ key, status = 'no answer' }) => `${key} has no session: ${status}`,
    )
    return [...sessions, ...this.client.open, ...readers]
  }

  principalOf(session: string): string | undefined {
    return this.conversations.find((one) => one.session === session)?.principal
  }

  #open(): Conversation[] {
    return this.conversations.filter(({ state, session }) => state === 'open' && session !== undefined)
  }

  #unbegun(): Conversation[] {
    return this.conversations.filter(({ session }) => session === undefined)
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.conversations.map((one) => this.client.close(one)))
  }

  #conversation(fixed?: LoadSettings['always']): Conversation {
    const [agent, launch] = fixed?.agent ?? pick(this.#random, this.#settings.agents)
    const isFake = agent !== 'echo'
    const more = isFake ? { launch, policy: POLICY, options: { env: { FAKE_TOKEN: SECRET } } } : {}
    const one: Conversation = {
      principal: pick(this.#random, [...this.#target.principals.keys()]),
      key: `key-${++this.#count}`,
      body: { agent, prompt: this.#script(fixed?.script), ...more },
      state: 'open',
    }
    this.conversations.push(one)
    return one
  }

  #begin(one: Conversation): Promise<void> {
    const headers = this.#target.principals.get(one.principal) ?? {}
    return this.client.begin(one, (session) => {
      const see = (message: Message) => this.#see(one, message)
      this.readers.push(
        new Reader(this.#target, { name: `sse ${session}`, headers, protocol: sse(session), see }),
      )
      const [name, protocol] = pick(this.#random, SECOND_READERS)
      this.readers.push(
        new Reader(this.#target, { name: `${name} ${session}`, headers, protocol: protocol(session) }),
      )
    })
  }

  #prompt(one: Conversation): Promise<void> {
    return this.client.prompt(one, this.#script())
  }

  /** Chooses whether the session will be ended or deleted. */
  #retire(one: Conversation): void {
    one.state = this.#random() < 0.3 ? 'deleting' : 'ending'
  }

  /** Also those whose server died before it confirmed the end: left alone, they would fill the next one. */
  async #closeRetired(): Promise<void> {
    const retired = this.conversations.filter(({ state, isClosed }) => state !== 'open' && !isClosed)
    await Promise.all(retired.map((one) => this.client.close(one)))
  }

  async #execute(): Promise<void> {
    const task = { idempotency_key: `task-${++this.#count}`, task: `p${this.#count} task`, driver: 'echo' }
    const reader = new Reader(this.#target, this.taskReading(task))
    this.readers.push(reader)
    this.tasks.push({ reader, task })
  }

  taskReading(task: Record<string, unknown>) {
    const headers = this.#target.principals.values().next().value ?? {}
    return { name: `execute ${task.idempotency_key}`, headers, protocol: execute(task) }
  }

  #see(one: Conversation, { text }: Message): void {
    const { event } = JSON.parse(text)
    if (event.type === 'turn.started') one.running = event.turn
    if (event.type === 'turn.completed' && event.turn === one.running) one.running = undefined
    if (event.type !== 'request.opened' || !this.answers) return
    // Two clients at once, which need not agree.
    for (let clients = 0; clients < 2; clients++) {
      const decision = this.#random() < 0.7 ? 'allow' : 'deny'
      void this.client.answer(one, event.requestId, decision, event.inputDigest)
    }
  }

  #script(orders = pick(this.#random, this.#settings.scripts)): string {
    return `p${++this.#count} ${orders}`
  }
}
