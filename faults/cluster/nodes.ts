import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Host } from '../crash/host.ts'
import { type Answer, request, type Target } from '../crash/target.ts'
import { pick, type Random } from '../random.ts'
import { asNode } from './audit.ts'
import { Namespace } from './namespace.ts'
import { Network } from './network.ts'

/** Longer than a node waits for another one to apply a command. */
const CALL_MS = 40_000
const DRAIN_MS = 1_000

/** One server of several, and its way to the database. */
export interface Node {
  name: string
  host: Host
  network: Network
  /** Undefined where namespaces cannot be made. */
  namespace: Namespace | undefined
  /** False while a fault makes it unable to take sessions over. */
  isSound: boolean
}

/** Servers on one database, as clients use them: every connection and every request goes to any of them. */
export class Nodes implements Target, AsyncDisposable {
  readonly all: readonly Node[]
  readonly principals: Target['principals']
  readonly #random: Random

  static async create(given: {
    home: string
    database: string
    names: readonly string[]
    leaseMs: number
    /** Whether each node gets a network namespace. */
    isolated: boolean
    random: Random
  }): Promise<Nodes> {
    const { home, database, names, leaseMs, isolated, random } = given
    const cwd = join(home, 'work')
    mkdirSync(cwd)
    const nodes: Node[] = []
    for (const name of names) {
      const place = join(home, name)
      mkdirSync(place, { mode: 0o700 })
      const namespace = isolated ? new Namespace(nodes.length + 1) : undefined
      const network = await Network.start(Number(new URL(database).port), namespace?.here)
      const config = {
        store: { url: network.url(asNode(database, name)) },
        node: { name, leaseMs },
        ...(namespace && { host: namespace.there, hosts: [namespace.there] }),
      }
      const [peer] = nodes
      const host = await Host.create(place, {
        program: 'serve',
        drainMs: DRAIN_MS,
        cwd,
        config,
        ...(namespace && { enter: namespace.enter }),
        ...(peer && { peer: peer.host }),
      })
      nodes.push({ name, host, network, namespace, isSound: false })
    }
    return new Nodes(nodes, random)
  }

  private constructor(all: readonly Node[], random: Random) {
    this.all = all
    this.principals = all[0]?.host.principals ?? new Map()
    this.#random = random
  }

  get url(): Promise<string> {
    const up = this.#up()
    if (up.length > 0) return Promise.resolve(pick(this.#random, up))
    return Promise.race(this.all.map(({ host }) => host.url))
  }

  get soundNodes(): number {
    return this.all.filter(({ isSound }) => isSound).length
  }

  async call(
    route: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer | undefined> {
    const up = this.#up()
    if (up.length === 0) return undefined
    return request(pick(this.#random, up), route, body, headers, AbortSignal.timeout(CALL_MS))
  }

  async start(node: Node): Promise<boolean> {
    node.isSound = await node.host.start()
    return node.isSound
  }

  /** Stops a server in order; false when it had to be killed. */
  async stop(node: Node, patience: AbortSignal): Promise<boolean> {
    node.isSound = false
    const exited = node.host.exited()
    node.host.signal('SIGTERM')
    const kill = () => node.host.signal('SIGKILL')
    patience.addEventListener('abort', kill, { once: true })
    const wasKilled = await exited
    patience.removeEventListener('abort', kill)
    return !wasKilled
  }

  agentProcesses(): string[] {
    return this.all.flatMap(({ host }) => host.agentProcesses())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { host, network, namespace } of this.all) {
      await host[Symbol.asyncDispose]()
      await network[Symbol.asyncDispose]()
      namespace?.[Symbol.dispose]()
    }
  }

  #up(): string[] {
    return this.all.flatMap(({ host }) => host.address ?? [])
  }
}
