import { MainstemError, toMainstemError } from '../../model/index.ts'
import type { RegisteredNode } from '../../stores/nodes.ts'
import type { NodeDeps } from './deps.ts'

/** Registrations in the time that one lasts. */
const BEATS = 5
/** How often a start looks whether the process that had the name before is gone. */
const RETRY_MS = 500

/** The registration of this node among the others. */
export class Membership {
  readonly #deps: NodeDeps
  readonly #lost: (error: MainstemError) => void

  /** `lost` is told when another process has taken the name. */
  constructor(deps: NodeDeps, lost: (error: MainstemError) => void) {
    this.#deps = deps
    this.#lost = lost
  }

  /**
   * Registers this process. After a crash the registration of the earlier process first has to expire; a process that
   * renews it meanwhile is alive, and the name is refused.
   */
  async join(signal: AbortSignal): Promise<void> {
    const { background, store, terms } = this.#deps
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
        // It owns the leases of this node by name, so nothing may run here any more.
        if (error.code === 'conflict') this.#lost(new MainstemError('fenced', error.message))
      }
    }
  }

  /** Tells the others at once what changed. */
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

  async #register(): Promise<void> {
    const { store, terms, processId, info } = this.#deps
    await store.nodes.register(terms.owner, processId, info(), terms.ttlMs)
  }
}
