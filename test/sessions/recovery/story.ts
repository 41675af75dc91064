import type { Launch } from '../../../src/agents/agent.ts'
import type { Event, SessionRecord } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { house } from '../house.ts'
import { LastingDriver } from '../lasting-driver.ts'
import type { PROTOCOLS, Script } from '../machine/scripted-protocols.ts'

export type Protocol = (typeof PROTOCOLS)[number][1]
type House = ReturnType<typeof house>

/** Everything that can happen without time passing has happened. */
export async function settled(): Promise<void> {
  for (let tick = 0; tick < 40; tick++) await new Promise((resolve) => setImmediate(resolve))
}

/** A session of a scripted agent, whose server can be replaced at any step. */
export class Story {
  readonly store = memoryStore()
  readonly driver = new LastingDriver()
  readonly #protocol: Protocol
  readonly #scripts: Script[] = []
  #house: House
  #id = ''

  constructor(protocol: Protocol) {
    this.#protocol = protocol
    this.driver.onStart = (agent) => void this.#scripts.push(protocol.script(agent))
    this.#house = this.#server()
  }

  #server(): House {
    return house(this.store, { driver: this.driver })
  }

  get script(): Script {
    const script = this.#scripts.at(-1)
    if (!script) throw new Error('no agent was started')
    return script
  }

  /** How each process was started. */
  get launches(): Launch[] {
    return [...this.driver.agents.values()].map(({ launch }) => launch)
  }

  /** Lets time pass for the server that runs now. */
  async pass(ms: number): Promise<void> {
    await this.#house.time.pass(ms)
  }

  exit(): void {
    for (const agent of this.driver.agents.values()) agent.die({ code: 0 })
  }

  async begin(): Promise<void> {
    const approval = this.#protocol.agent === 'pi' ? 'auto-all' : 'ask'
    this.#id = (await this.#house.open({ approval }, { agent: this.#protocol.agent })).id
  }

  async prompt(text: string): Promise<void> {
    await (await this.#house.sessions.open(this.#id)).prompt(text)
  }

  async interrupt(): Promise<void> {
    const session = await this.#house.sessions.open(this.#id)
    // A server that dies never answers.
    session.interrupt().catch(() => undefined)
  }

  async setModel(model: string): Promise<void> {
    const session = await this.#house.sessions.open(this.#id)
    session.change({ type: 'set_model', model }).catch(() => undefined)
  }

  /** Kills the server, and starts another one. */
  async restart(): Promise<void> {
    this.driver.cut()
    this.#house = this.#server()
    await this.#house.sessions.recover()
    await this.#house.sessions.resumeQueues()
  }

  async events(): Promise<Event[]> {
    const entries = await this.store.read(this.#id, 0, 1_000)
    return entries.map(({ event }) => event).filter((event) => !isReattached(event))
  }

  async record(): Promise<Partial<SessionRecord>> {
    const record = await this.store.record(this.#id)
    if (!record) throw new Error('the session has no record')
    const { usage, queue, openTurn, turns, requests, nativeSessionId, status, lastOutcome } = record
    return { usage, queue, openTurn, turns, requests, nativeSessionId, status, lastOutcome }
  }
}

function isReattached(event: Event): boolean {
  return event.type === 'notice.raised' && event.code === 'reattached'
}
