import type { NodeCommand, NodeInfo, NodeStore, RegisteredNode } from '../nodes.ts'
import type { OpenTime } from '../open-time.ts'
import { nameTaken } from '../refusals.ts'
import { WakeUps } from '../wake-ups.ts'
import { MemoryCommitLog } from './commit-log.ts'

/** A node without a registration is listed for this long. */
const LISTED_MS = 86_400_000

interface Registration {
  process: string
  info: NodeInfo
  seen: number
  until: number
}

interface Sent {
  command: NodeCommand
  until: number
  outcome: string | undefined
}

/** The facts about sessions that nodes need. */
export interface SessionOwners {
  ownerOf(session: string): string | undefined
  /** The oldest first. */
  orphans(limit: number): string[]
}

/** Several servers in one process, on one memory store: for tests. */
export class MemoryNodes implements NodeStore {
  readonly commits = new MemoryCommitLog()
  readonly #time: OpenTime
  readonly #owners: SessionOwners
  readonly #nodes = new Map<string, Registration>()
  /** In the order they were sent. */
  readonly #commands = new Map<string, Sent>()
  readonly #arrivals = new WakeUps()
  readonly #outcomes = new WakeUps()

  constructor(time: OpenTime, owners: SessionOwners) {
    this.#time = time
    this.#owners = owners
  }

  async register(name: string, process: string, info: NodeInfo, ttlMs: number): Promise<void> {
    const now = this.#time.now()
    const known = this.#nodes.get(name)
    if (known && known.process !== process && known.until > now) throw nameTaken(name, known.until - now)
    this.#nodes.set(name, { process, info: structuredClone(info), seen: now, until: now + ttlMs })
    for (const [other, { seen }] of this.#nodes) if (seen < now - LISTED_MS) this.#nodes.delete(other)
    for (const [id, { until }] of this.#commands) if (until < now) this.#commands.delete(id)
  }

  async leave(name: string, process: string): Promise<void> {
    if (this.#nodes.get(name)?.process === process) this.#nodes.delete(name)
  }

  async list(): Promise<readonly RegisteredNode[]> {
    const now = this.#time.now()
    return [...this.#nodes]
      .map(([name, { info, seen, until }]) => ({ ...info, name, live: until > now, seenMs: now - seen }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async ownerOf(session: string): Promise<string | undefined> {
    return this.#owners.ownerOf(session)
  }

  async orphans(limit: number): Promise<readonly string[]> {
    return this.#owners.orphans(limit)
  }

  async send(command: NodeCommand, ttlMs: number): Promise<void> {
    this.#commands.delete(command.id)
    this.#commands.set(command.id, {
      command: { ...command },
      until: this.#time.now() + ttlMs,
      outcome: undefined,
    })
    this.#arrivals.wake(command.node)
  }

  async pending(node: string, except: readonly string[]): Promise<readonly NodeCommand[]> {
    const now = this.#time.now()
    const known = new Set(except)
    const found = [...this.#commands.values()]
      .filter(({ until, outcome }) => outcome === undefined && until > now)
      .map(({ command }) => command)
      .filter((command) => command.node === node && !known.has(command.id))
    return [...found.filter(({ urgent }) => urgent), ...found.filter(({ urgent }) => !urgent)]
  }

  async arrived(node: string, signal: AbortSignal): Promise<void> {
    await this.#arrivals.wait(node, signal)
  }

  async settle(id: string, node: string, outcome: string): Promise<void> {
    const sent = this.#commands.get(id)
    if (sent?.command.node !== node || sent.outcome !== undefined) return
    sent.outcome = outcome
    this.#outcomes.wake(id)
  }

  async outcome(id: string, signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      const outcome = this.#commands.get(id)?.outcome
      if (outcome !== undefined || signal.aborted) return outcome
      await this.#outcomes.wait(id, signal)
    }
  }
}
