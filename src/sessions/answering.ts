import type { RequestOpened } from '../model/events/request.ts'
import { type BoundAnswer, type Cause, MainstemError, toMainstemError } from '../model/index.ts'
import type { AgentProcess } from './agent-process.ts'
import { answerFor } from './approval.ts'
import type { Claim } from './claim.ts'
import type { Conversation } from './conversation.ts'
import type { SessionDeps } from './deps.ts'
import { OpenRequests } from './open-requests.ts'
import type { Outbox } from './outbox.ts'
import { approvalContext, type SessionSetup } from './setup.ts'
import { toolHooksOf } from './tool-hook.ts'

/** The parts of the engine that an answer uses. */
export interface AnsweringOwner {
  readonly conversation: Conversation
  readonly process: AgentProcess
  readonly outbox: Outbox
  flush(claims?: readonly Claim[]): Promise<void>
  interrupt(cause: Cause): Promise<void>
  fail(thrown: unknown): void
}

/** Decides the requests of one session: by policy, by hook, or with the answer of a caller. */
export class Answering {
  readonly #owner: AnsweringOwner
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #requests: OpenRequests

  /** `waiting` is called with whether any request is open. */
  constructor(
    owner: AnsweringOwner,
    setup: SessionSetup,
    deps: SessionDeps,
    waiting: (waiting: boolean) => void,
  ) {
    this.#owner = owner
    this.#setup = setup
    this.#deps = deps
    this.#requests = new OpenRequests(toolHooksOf(setup, deps), waiting)
  }

  /** Registers an open request. If no person is needed, decides it after its commit. */
  opened(request: RequestOpened): void {
    this.#requests.open(request)
    const answer = answerFor(request, approvalContext(this.#setup, this.#deps))
    if (!answer && request.answeredBy !== 'hook') return
    this.#owner.outbox.push(() => {
      if (!this.#requests.isOpen(request)) return
      const { inputDigest } = request
      const answered = answer ? this.answer({ ...answer, inputDigest }) : this.#askHook(request)
      // The agent does not offer this answer; the request stays open for a person.
      answered.catch((thrown) => {
        if (toMainstemError(thrown).code === 'storage_failed') this.#owner.fail(thrown)
      })
    })
  }

  withdrawn(requestId: string): void {
    this.#requests.withdraw(requestId)
  }

  /** Checks, decides and encodes without awaiting in between; then commits, then writes. The first decision wins. */
  async answer(bound: BoundAnswer, claims?: readonly Claim[]): Promise<void> {
    const { conversation, outbox } = this.#owner
    this.#requests.check(bound)
    const { inputDigest: _, ...answer } = bound
    const { writes, refused } = conversation.answer(answer)
    if (refused) throw new MainstemError(refused.code, refused.message)
    const mayWrite = this.#requests.close(answer.requestId)
    outbox.push(() => {
      if (mayWrite()) this.#owner.process.write(writes)
    })
    await this.#owner.flush(claims)
    if (answer.interrupt) await this.#owner.interrupt('interrupt')
  }

  async #askHook(request: RequestOpened): Promise<void> {
    const answer = await this.#requests.askHook(request)
    if (answer) await this.answer(answer)
  }

  stop(): Promise<void> {
    return this.#requests.stop()
  }
}
