import type { RequestOpened } from '../model/events/request.ts'
import type { AnswerCommand, Policy } from '../model/index.ts'

/**
 * What the policy answers for the user; nothing when a person is to be asked.
 * A question is never answered by policy, and with nobody to answer it is refused, never approved.
 */
export function answerFor(
  request: RequestOpened,
  policy: Policy,
  attended: boolean,
): AnswerCommand | undefined {
  const { requestId } = request
  const allowed = policy.approval === 'auto-all' && request.kind === 'permission'
  if (allowed) return { type: 'answer', requestId, decision: 'allow', scope: 'once', by: 'policy' }
  if (attended) return undefined
  return { type: 'answer', requestId, decision: 'deny', message: 'nobody is there to answer', by: 'policy' }
}
