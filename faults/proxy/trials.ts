import { deepEqual, equal } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { MainstemClient } from '../../src/client/mainstem-client.ts'
import type { NodeProcess } from '../../test/daemon/node-process.ts'
import { ndjson, polling, socket, sse } from '../crash/protocols.ts'
import { Reader } from '../crash/reader.ts'

export interface Scene {
  /** The address of the proxy. */
  url: string
  nodes: readonly NodeProcess[]
}

const PROTOCOLS = Object.entries({ sse, ndjson, polling, socket })
/** Few enough for their entries to be one page. */
const TURNS = 12
const REQUESTS = 20
const POLL_MS = 50
const PATIENCE_MS = 60_000

/** Each fails with what is wrong. They follow each other, and use up nodes. */
export const TRIALS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'commands, server-sent events, lines, pages and WebSockets pass': async ({ url }) => {
    const session = await Followed.begin(url, { agent: 'claude' })
    for (let turn = 1; turn <= TURNS; turn++) await session.turn(turn)
    await session.end()
  },
  'a node that drains costs no request, and its streams continue elsewhere': async ({ url, nodes }) => {
    const session = await Followed.begin(url, { agent: 'claude' })
    nodes[0]?.signal('SIGTERM')
    for (let turn = 1; turn <= TURNS; turn++) await session.turn(turn)
    await nodes[0]?.exited
    for (let turn = TURNS + 1; turn <= 2 * TURNS; turn++) await session.turn(turn)
    await session.end()
  },
  'a node that is killed costs its running turn; clients reconnect and miss nothing': async ({
    url,
    nodes,
  }) => {
    const session = await Followed.begin(url, { agent: 'claude', prompt: 'wait here' })
    await session.client.prompt(session.id, 'next one')
    const { node } = await session.client.session(session.id)
    await nodes.find(({ name }) => name === node)?.kill()
    // The proxy has the node still: connections to it are refused, and go to another one.
    const asked = Array.from({ length: REQUESTS }, () => fetch(`${url}/v1/sessions/${session.id}`))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    deepEqual(new Set(statuses), new Set([200]))
    await session.outcomes(['lost', 'completed'])
    await session.end()
  },
}

/** A session with a reader over each protocol, all through the proxy. */
class Followed {
  readonly client: MainstemClient
  readonly id: string
  readonly #readers: readonly Reader[]

  static async begin(url: string, body: { agent: string; prompt?: string }): Promise<Followed> {
    const client = new MainstemClient({ baseUrl: url })
    return new Followed(url, client, (await client.begin(body)).id)
  }

  private constructor(url: string, client: MainstemClient, id: string) {
    this.client = client
    this.id = id
    const target = { principals: new Map(), url: Promise.resolve(url), call: async () => undefined }
    this.#readers = PROTOCOLS.map(
      ([name, protocol]) => new Reader(target, { name, headers: {}, protocol: protocol(id) }),
    )
  }

  /** Sends a prompt and waits for the end of its turn. */
  async turn(turn: number): Promise<void> {
    equal(await this.client.prompt(this.id, `number ${turn}`), turn)
    await this.outcomes(Array.from({ length: turn }, () => 'completed'))
  }

  async outcomes(expected: readonly string[]): Promise<void> {
    let outcomes: string[] = []
    for (let waited = 0; outcomes.length < expected.length && waited < PATIENCE_MS; waited += POLL_MS) {
      await sleep(POLL_MS)
      outcomes = (await this.#log()).flatMap(({ event }) =>
        event.type === 'turn.completed' ? event.outcome : [],
      )
    }
    deepEqual(outcomes, expected)
  }

  /** Ends the session; every reader must have seen its whole log, and nothing twice. */
  async end(): Promise<void> {
    await this.client.end(this.id)
    await Promise.race([
      Promise.all(this.#readers.map(({ ended }) => ended)),
      sleep(PATIENCE_MS, undefined, { ref: false }),
    ])
    const log = (await this.#log()).map((entry) => JSON.stringify(entry))
    for (const { name, shown, repeated, forgotten } of this.#readers) {
      const seen = { name, shown: [...shown.values()], repeated, forgotten }
      deepEqual(seen, { name, shown: log, repeated: 0, forgotten: undefined })
    }
  }

  async #log() {
    return (await this.client.page(this.id, { after: 0 })).entries ?? []
  }
}
