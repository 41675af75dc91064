import { MainstemError, toMainstemError } from '../model/index.ts'
import type { RegisteredNode } from '../stores/nodes.ts'
import type { NodeDeps } from './deps.ts'

/** Renewals per lifetime of a registration. */
const BEATS = 5
/** The interval at which a starting node checks whether the earlier process with its name is gone. */
const RETRY_MS = 500

/** A node with a clock further off does not start: others could delete its sessions too early, or too late. */
const MAX_SKEW_MS = 5 * 60_000

/** The registration of this node among the others. */
export class Membership {
  readonly #deps: NodeDeps
  readonly #lost: (error: MainstemError) => void

  /** Calls `lost` when another process has taken the name. */
  constructor(deps: NodeDeps, lost: (error: MainstemError) => void) {
    this.#deps = deps
    this.#lost = lost
  }

  /**
   * Registers this process. After a crash, waits until the registration of the earlier process has expired. Refuses the
   * name if that process renews its registration meanwhile.
   */
  async join(signal: AbortSignal): Promise<void> {
    const { background, store, terms } = this.#deps
    await this.#checkClock()
    let seen: number | undefined
    while (!signal.aborted) {
      try {
        return await this.#register()
      } catch (thrown) {
        const node = (await store.nodes.list()).find(({ name }) => name === terms.owner)
        const isAlive = seen !== undefined && node?.live && node.seenMs < seen
        if (toMainstemError(thrown).code !== 'conflict' || isAlive) throw thrown
        seen = node?.seenMs
        await background.sleep(RETRY_MS, signal)
      }
    }
  }

  /** Renews the registration until the signal fires. */
  async keep(signal: AbortSignal): Promise<void> {
    const { terms, background, report } = this.#deps
    while (!signal.aborted) {
      await background.sleep(terms.ttlMs / BEATS, signal)
      if (signal.aborted) return
      try {
        await this.#register()
      } catch (thrown) {
        const error = toMainstemError(thrown)
        report(error)
        // That process owns the leases of this node by name, so nothing may run here any more.
        if (error.code === 'conflict') this.#lost(new MainstemError('fenced', error.message))
      }
    }
  }

  /** Publishes a change of this node at once. */
  async announce(): Promise<void> {
    await this.#register()
  }

  async leave(): Promise<void> {
    const { store, terms, processId } = this.#deps
    await store.nodes.leave(terms.owner, processId)
  }

  list(): Promise<readonly RegisteredNode[]> {
    return this.#deps.store.nodes.list()
  }

  /** Retention of every node compares the times that this node writes with those of the store. */
  async #checkClock(): Promise<void> {
    const { store, clock } = this.#deps
    const time = await store.nodes.time?.()
    if (time === undefined) return
    const aheadMs = clock.now() - time
    if (Math.abs(aheadMs) <= MAX_SKEW_MS) return
    const by = `${Math.round(Math.abs(aheadMs) / 60_000)} minutes ${aheadMs > 0 ? 'ahead of' : 'behind'}`
    throw new MainstemError('invalid_request', `the clock of this machine is ${by} that of the database`, {
      advice: 'Set the clocks of both machines, for example with NTP, and start again.',
    })
  }

  async #register(): Promise<void> {
    const { store, terms, processId, info } = this.#deps
    await store.nodes.register(terms.owner, processId, info(), terms.ttlMs)
  }
}
