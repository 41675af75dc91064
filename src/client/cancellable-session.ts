import type { Session } from './session.ts'

/** Cancels everything that was registered with it, once. Share one token to cancel several sessions together. */
export class CancelToken {
  readonly #actions = new Set<() => Promise<void>>()
  #cancelled: Promise<void> | undefined

  /** True after the first `cancel`. */
  get isCancelled(): boolean {
    return this.#cancelled !== undefined
  }

  /** Runs `action` when the token is cancelled, or at once if it already is. */
  onCancel(action: () => Promise<void>): void {
    if (this.#cancelled) this.#cancelled = Promise.all([this.#cancelled, action()]).then(() => undefined)
    else this.#actions.add(action)
  }

  /** Cancels. Resolves when all actions have; rejects with the first error. Later calls share the result. */
  async cancel(): Promise<void> {
    this.#cancelled ??= Promise.all([...this.#actions].map((action) => action())).then(() => undefined)
    return this.#cancelled
  }
}

/** A session with a token that cancels it. */
export class CancellableSession {
  /** The session. */
  readonly session: Session
  /** Cancels the session, and everything else that is registered with it. */
  readonly cancelToken: CancelToken

  constructor(session: Session, cancelToken: CancelToken = new CancelToken()) {
    this.session = session
    this.cancelToken = cancelToken
    cancelToken.onCancel(() => session.cancel())
  }

  /** Stops the agent. The events of the session still end with `sessionEnded`. */
  async cancel(): Promise<void> {
    await this.cancelToken.cancel()
  }
}
