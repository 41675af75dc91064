import type { RequestOpened } from '../model/events/request.ts'
import { type BoundAnswer, MainstemError, toMainstemError } from '../model/index.ts'
import type { AgentProcess } from './agent-process.ts'
import { answerFor } from './approval.ts'
import type { Claim } from './claim.ts'
import type { Conversation } from './conversation.ts'
import type { SessionDeps } from './deps.ts'
import type { Log } from './log.ts'
import { OpenRequests } from './open-requests.ts'
import { approvalContext, type SessionSetup } from './setup.ts'
import { toolHooksOf } from './tool-hook.ts'

/** The parts of a session that an answer uses. */
export interface AnsweringParts {
  conversation: Conversation
  agent: AgentProcess
  log: Log
  /** Stops the open turn. */
  interrupt(): Promise<void>
  /** Called with whether any request is open. */
  waiting: (waiting: boolean) => void
  failed(thrown: unknown): void
}

/** Decides the requests of one session: by policy, by hook, or with the answer of a caller. */
export class Answering {
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #parts: AnsweringParts
  readonly #requests: OpenRequests

  constructor(setup: SessionSetup, deps: SessionDeps, parts: AnsweringParts) {
    this.#setup = setup
    this.#deps = deps
    this.#parts = parts
    this.#requests = new OpenRequests(toolHooksOf(setup, deps), parts.waiting)
  }

  /** Registers an open request. If no person is needed, decides it after its commit. */
  opened(request: RequestOpened): void {
    this.#requests.open(request)
    const answer = answerFor(request, approvalContext(this.#setup, this.#deps))
    if (!answer && request.answeredBy !== 'hook') return
    this.#parts.log.after(() => {
      if (!this.#requests.isOpen(request)) return
      const { inputDigest } = request
      const answered = answer ? this.answer({ ...answer, inputDigest }) : this.#askHook(request)
      // The agent does not offer this answer; the request stays open for a person.
      answered.catch((thrown) => {
        if (toMainstemError(thrown).code === 'storage_failed') this.#parts.failed(thrown)
      })
    })
  }

  withdrawn(requestId: string): void {
    this.#requests.withdraw(requestId)
  }

  /** Checks, decides and encodes without awaiting in between; then commits, then writes. The first decision wins. */
  async answer(bound: BoundAnswer, claims?: readonly Claim[]): Promise<void> {
    const { conversation, agent, log, interrupt } = this.#parts
    const { inputDigest: _, ...answer } = bound
    const refusal = this.#requests.refusalOf(bound)
    if (refusal) {
      // A caller that comes second must find the first decision in the log.
      await log.commit()
      throw refusal
    }
    const { writes, refused } = conversation.answer(answer)
    if (refused) throw new MainstemError(refused.code, refused.message)
    agent.write(writes, this.#requests.close(answer.requestId))
    await log.commit(claims)
    if (answer.interrupt) await interrupt()
  }

  async #askHook(request: RequestOpened): Promise<void> {
    const answer = await this.#requests.askHook(request)
    if (answer) await this.answer(answer)
  }

  stop(): Promise<void> {
    return this.#requests.stop()
  }
}
