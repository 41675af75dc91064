import { describe, expect, test } from 'vitest'
import type { Launch } from '../../../src/agents/agent.ts'
import type { Event, SessionRecord } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { house } from '../house.ts'
import { LastingDriver } from '../lasting-driver.ts'
import { PROTOCOLS, type Script } from '../machine/scripted-protocols.ts'

type Protocol = (typeof PROTOCOLS)[number][1]
type House = ReturnType<typeof house>

/** Everything that can happen without time passing has happened. */
async function settled(): Promise<void> {
  for (let tick = 0; tick < 40; tick++) await new Promise((resolve) => setImmediate(resolve))
}

/** A session of a scripted agent, whose server can be replaced at any step. */
class Story {
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
    return house(this.store, 10, undefined, undefined, undefined, undefined, { driver: this.driver })
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

/** A prompt that waits in the queue, two interrupts of which the agent obeys one, and a change of the model. */
const STEPS: readonly [name: string, step: (story: Story) => unknown][] = [
  ['begin', (story) => story.begin()],
  ['prompt 1', (story) => story.prompt('prompt 1')],
  ['turn 1 begins', ({ script }) => script.begin(1)],
  ['text 1', ({ script }) => script.say(1, 'text 1')],
  ['prompt 2 waits', (story) => story.prompt('prompt 2')],
  ['turn 1 ends', ({ script }) => script.finish(1, 'text 1')],
  ['turn 2 begins', ({ script }) => script.begin(2)],
  ['text 2', ({ script }) => script.say(2, 'text 2')],
  ['interrupt', (story) => story.interrupt()],
  ['turn 2 stops', ({ script }) => script.stopped(2)],
  ['the interrupt is confirmed', ({ script }) => script.acknowledge?.()],
  ['prompt 3', (story) => story.prompt('prompt 3')],
  ['turn 3 begins', ({ script }) => script.begin(3)],
  ['text 3', ({ script }) => script.say(3, 'text 3')],
  ['turn 3 ends', ({ script }) => script.finish(3, 'text 3')],
  ['prompt 4', (story) => story.prompt('prompt 4')],
  ['turn 4 begins', ({ script }) => script.begin(4)],
  ['the model is changed', (story) => story.setModel('another')],
  ['interrupt of turn 4', (story) => story.interrupt()],
  ['turn 4 ends as if it was not interrupted', ({ script }) => script.finish(4, 'text 4')],
  ['the model is changed again', (story) => story.setModel('a third one')],
  ['the agent exits', (story) => story.exit()],
  ['prompt 5', (story) => story.prompt('prompt 5')],
]

/** Plays the steps, and replaces the server after these. */
async function played(protocol: Protocol, restarts: ReadonlySet<number>) {
  const story = new Story(protocol)
  for (const [at, [, step]] of STEPS.entries()) {
    await step(story)
    await settled()
    if (!restarts.has(at)) continue
    await story.restart()
    await settled()
  }
  return { events: await story.events(), record: await story.record(), launches: story.launches }
}

describe.each(PROTOCOLS)('%s', (_, protocol) => {
  test.each(STEPS.map(([name], at) => [name, at] as const).slice(1))(
    'a server that is replaced after "%s" logs what one server would have logged',
    async (__, at) => {
      expect(await played(protocol, new Set([at]))).toEqual(await played(protocol, new Set()))
    },
  )

  test('so does one that is replaced after every step', async () => {
    const every = new Set<number>([...STEPS.keys()].slice(1))
    expect(await played(protocol, every)).toEqual(await played(protocol, new Set()))
  })
})
