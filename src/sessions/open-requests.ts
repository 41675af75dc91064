import type { RequestOpened } from '../model/events/request.ts'
import { type BoundAnswer, MainstemError } from '../model/index.ts'
import type { ToolHooks } from './tool-hook.ts'

/** An answer that is committed but not yet written to the agent. */
interface Delivery {
  /** The agent has opened another request with the same id, so this answer must not reach it. */
  stale: boolean
}

/** The requests of the agent that wait for an answer, and the hooks that answer some of them. */
export class OpenRequests {
  /** The digest of what was asked, by request id. */
  readonly #open = new Map<string, string>()
  readonly #deliveries = new Map<string, Delivery>()
  readonly #hooks: ToolHooks
  readonly #changed: (waiting: boolean) => void

  /** `changed` is called with whether any request is open. */
  constructor(hooks: ToolHooks, changed: (waiting: boolean) => void) {
    this.#hooks = hooks
    this.#changed = changed
  }

  open({ requestId, inputDigest }: RequestOpened): void {
    const delivery = this.#deliveries.get(requestId)
    if (delivery) delivery.stale = true
    this.#open.set(requestId, inputDigest)
    this.#changed(true)
  }

  /** Closes a request that was answered. Returns whether its answer may still be written to the agent. */
  close(requestId: string): () => boolean {
    this.#remove(requestId)
    const delivery: Delivery = { stale: false }
    this.#deliveries.set(requestId, delivery)
    return () => {
      if (this.#deliveries.get(requestId) === delivery) this.#deliveries.delete(requestId)
      return !delivery.stale
    }
  }

  withdraw(requestId: string): void {
    this.#hooks.withdraw(requestId)
    this.#remove(requestId)
  }

  /** Returns why this answer is refused; undefined if this very request is open and no hook is deciding it. */
  refusalOf({ requestId, inputDigest }: BoundAnswer): MainstemError | undefined {
    const asked = this.#open.get(requestId)
    if (asked === undefined) {
      return new MainstemError('request_not_found', `there is no open request ${requestId}`)
    }
    if (asked !== inputDigest) {
      const message = 'inputDigest: the agent now asks something else under this request id'
      return new MainstemError('conflict', message, { field: 'inputDigest' })
    }
    if (!this.#hooks.decides(requestId)) return undefined
    return new MainstemError('conflict', `a hook is deciding request ${requestId}`)
  }

  /** True while this very request is open. */
  isOpen({ requestId, inputDigest }: RequestOpened): boolean {
    return this.#open.get(requestId) === inputDigest
  }

  /** Returns the decision of the hook; none where the request was closed or replaced meanwhile. */
  async askHook(request: RequestOpened): Promise<BoundAnswer | undefined> {
    const answer = await this.#hooks.ask(request)
    return this.isOpen(request) ? { ...answer, inputDigest: request.inputDigest } : undefined
  }

  stop(): Promise<void> {
    return this.#hooks.stop()
  }

  #remove(requestId: string): void {
    this.#open.delete(requestId)
    this.#changed(this.#open.size > 0)
  }
}
