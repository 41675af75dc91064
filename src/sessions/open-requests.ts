import type { RequestOpened } from '../model/events/request.ts'
import { type AnswerCommand, MainstemError } from '../model/index.ts'
import type { ToolHooks } from './tool-hook.ts'

/** The requests of the agent that wait for an answer, and the hooks that answer some of them. */
export class OpenRequests {
  readonly #open = new Set<string>()
  readonly #hooks: ToolHooks
  readonly #changed: (waiting: boolean) => void

  /** `changed` learns whether any request is open. */
  constructor(hooks: ToolHooks, changed: (waiting: boolean) => void) {
    this.#hooks = hooks
    this.#changed = changed
  }

  has(requestId: string): boolean {
    return this.#open.has(requestId)
  }

  open(requestId: string): void {
    this.#open.add(requestId)
    this.#changed(true)
  }

  close(requestId: string): void {
    this.#open.delete(requestId)
    this.#changed(this.#open.size > 0)
  }

  withdraw(requestId: string): void {
    this.#hooks.withdraw(requestId)
    this.close(requestId)
  }

  /** Throws where the request is not open, or a hook is deciding it. */
  check(requestId: string): void {
    if (!this.#open.has(requestId)) {
      throw new MainstemError('request_not_found', `there is no open request ${requestId}`)
    }
    if (this.#hooks.decides(requestId)) {
      throw new MainstemError('conflict', `a hook is deciding request ${requestId}`)
    }
  }

  /** The decision of the hook; none where the request was closed meanwhile. */
  async askHook(request: RequestOpened): Promise<AnswerCommand | undefined> {
    const answer = await this.#hooks.ask(request)
    return this.has(request.requestId) ? answer : undefined
  }

  stop(): Promise<void> {
    return this.#hooks.stop()
  }
}
