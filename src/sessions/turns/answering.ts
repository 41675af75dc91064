import { blobReference } from '../../model/blob.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import {
  type AnswerCommand,
  type BlobRef,
  type BoundAnswer,
  MainstemError,
  toMainstemError,
} from '../../model/index.ts'
import { authorOf, type CommandContext } from '../command-context.ts'
import { parseAnswer } from '../commands.ts'
import { approvalContext } from '../process/setup.ts'
import type { SessionParts } from '../session-parts.ts'
import { checkFit } from './answer-fit.ts'
import { answerFor } from './approval.ts'
import { ToolHooks } from './tool-hook.ts'

/** The fields of a request that identify it. */
export type Asked = Pick<BoundAnswer, 'requestId' | 'inputDigest'>

/** Decides the requests of one session: by policy, by hook, or with the answer of a caller. */
export class Answering {
  readonly #parts: SessionParts
  readonly #hooks: ToolHooks
  /** Answers that are committed but not yet written to the agent, by request id. */
  readonly #deliveries = new Map<string, object>()

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#hooks = new ToolHooks(parts.setup, parts.deps)
  }

  /** If no person is needed for an open request, decides it after its commit. */
  opened(request: RequestOpened, blobs?: readonly BlobRef[]): void {
    // The agent has reused the id, so an answer to its earlier request must not reach it.
    this.#deliveries.delete(request.requestId)
    const { setup, deps, log, session } = this.#parts
    const unseen = request.answeredBy === 'hook' && blobs ? hookRefusal(request, blobs) : undefined
    const answer = answerFor(request, approvalContext(setup, deps)) ?? unseen
    if (!answer && request.answeredBy !== 'hook') return
    log.after(() => {
      if (!this.#isOpen(request)) return
      const { inputDigest } = request
      const answered = answer ? this.answer({ ...answer, inputDigest }) : this.#askHook(request)
      answered.catch((thrown) => this.#refused(request, thrown)).catch((thrown) => session.lose(thrown))
    })
  }

  /** A request that nobody else is asked about must not wait for ever: an answer that does not fit it denies it. */
  async #refused(request: RequestOpened, thrown: unknown): Promise<void> {
    const { code, message } = toMainstemError(thrown)
    if (code === 'storage_failed') throw thrown
    if (this.#isOpen(request)) await this.decline(request, `the answer was refused: ${message}`)
  }

  withdrawn(requestId: string): void {
    this.#hooks.withdraw(requestId)
  }

  /** Checks, decides and encodes without awaiting in between; then commits, then writes. The first decision wins. */
  async answer(given: BoundAnswer, context: CommandContext = {}): Promise<void> {
    const { conversation, agent, interrupts, log } = this.#parts
    const bound = parseAnswer(given)
    const { inputDigest: _, principal, client, ...answer } = bound
    const author = authorOf(context.actor ?? { principal, client })
    try {
      this.#check(bound)
    } catch (refusal) {
      // A caller that comes second must find the first decision in the log.
      await log.commit()
      throw refusal
    }
    const { writes, refused } = conversation.answer(answer, author)
    if (refused) throw new MainstemError(refused.code, refused.message)
    const { requestId, decision } = answer
    this.#parts.note('request.answered', context.actor, { request: requestId, decision })
    const delivery = {}
    this.#deliveries.set(requestId, delivery)
    agent.write(
      { command: answer, writes },
      () => this.#deliveries.get(requestId) === delivery && this.#deliveries.delete(requestId),
    )
    await log.commit(context.claims)
    if (answer.interrupt) await interrupts.interrupt('interrupt', { actor: context.actor })
  }

  /** Denies as policy, because no person decided, and raises a notice for the developer of the callback. */
  async decline(asked: Asked, message: string): Promise<void> {
    const { requestId, inputDigest } = asked
    const identified = { requestId, inputDigest }
    const denial: BoundAnswer = { ...identified, type: 'answer', decision: 'deny', by: 'policy', message }
    this.#check(denial)
    this.#parts.conversation.notify({
      type: 'notice.raised',
      level: 'error',
      code: 'answer_invalid',
      message,
    })
    await this.answer(denial)
  }

  async #askHook(request: RequestOpened): Promise<void> {
    const answer = await this.#hooks.ask(request)
    // The request may have been closed or replaced meanwhile.
    if (this.#isOpen(request)) await this.answer({ ...answer, inputDigest: request.inputDigest })
  }

  stop(): Promise<void> {
    return this.#hooks.stop()
  }

  /** The open request with this id. The record is its only holder. */
  #open(id: string): RequestOpened | undefined {
    return this.#parts.log.requests.findLast(({ requestId }) => requestId === id)
  }

  /** True while this very request is open. */
  #isOpen({ requestId, inputDigest }: RequestOpened): boolean {
    return this.#open(requestId)?.inputDigest === inputDigest
  }

  /** Refuses an answer unless it fits this very request, which is open and which no hook is deciding. */
  #check(answer: BoundAnswer): void {
    const { requestId, inputDigest } = answer
    const asked = this.#open(requestId)
    if (!asked) throw new MainstemError('request_not_found', `there is no open request ${requestId}`)
    if (asked.inputDigest !== inputDigest) {
      const message = 'inputDigest: the agent now asks something else under this request id'
      throw new MainstemError('conflict', message, { field: 'inputDigest' })
    }
    if (this.#hooks.decides(requestId))
      throw new MainstemError('conflict', `a hook is deciding request ${requestId}`)
    checkFit(asked, answer, this.#parts.setup.recipe.changesInput ?? false)
  }
}

/** A hook must not allow what it cannot read: it receives the request without the blobs. */
function hookRefusal({ requestId }: RequestOpened, blobs: readonly BlobRef[]): AnswerCommand {
  const message = `the hook cannot read the whole request: ${blobs.map(blobReference).join(', ')}`
  return { type: 'answer', requestId, decision: 'deny', message, by: 'hook' }
}
