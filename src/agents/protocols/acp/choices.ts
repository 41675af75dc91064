import type { AnswerCommand } from '../../../model/index.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emitAll, refuse } from '../../kit/decoded.ts'
import { type Fields, isFields, list, text } from '../../kit/fields.ts'
import { nextRequestId, openRequest } from '../../kit/requests.ts'
import type { AcpAsk, AcpState } from './state.ts'
import type { RpcId } from './wire.ts'

/** Some agents send a question as a permission request with an option for each answer. */
export function isChoice({ quirks }: AcpState, toolCallId: string | undefined): boolean {
  return quirks.questionIds !== undefined && toolCallId?.startsWith(quirks.questionIds) === true
}

/** Opens it as a question: a policy that allows everything must not choose an answer. */
export function openChoice(
  state: AcpState,
  nativeId: RpcId,
  { asked, params }: { asked: Fields; params: Fields },
  emitted: readonly Emitted[],
): Decoded {
  const choices = list(params, 'options')
    .filter(isFields)
    .map((option) => ({ id: text(option, 'optionId') ?? '', label: text(option, 'name') ?? '' }))
  const question = text(params, 'title') ?? text(asked, 'title') ?? ''
  const opened = openRequest(
    state.ledger,
    {
      requestId: nextRequestId(state.ledger, state.start, nativeId),
      kind: 'question',
      blocking: true,
      options: [],
      questions: [
        { id: QUESTION, text: question, options: choices.map(({ label }) => ({ label })), other: false },
      ],
    },
    { nativeId, toolId: undefined, options: [], choices },
  )
  return emitAll([...emitted, ...opened])
}

const QUESTION = 'answer'

/** The outcome for an answer: its option, or none for a question that is dismissed. */
export function choiceOutcome(
  choices: NonNullable<AcpAsk['choices']>,
  { decision, answers = {} }: AnswerCommand,
): { outcome: Fields } | { refusal: Decoded } {
  if (decision === 'allow')
    return { refusal: refuse('invalid_request', 'decision: a question must be answered or denied') }
  if (decision === 'deny') return { outcome: { outcome: 'cancelled' } }
  const [label] = answers[QUESTION] ?? []
  const chosen = choices.find((choice) => choice.label === label)
  if (!chosen)
    return { refusal: refuse('invalid_request', `answers: "${label ?? ''}" is not one of the options`) }
  return { outcome: { outcome: 'selected', optionId: chosen.id } }
}

/** The answer that another client chose. */
export function choiceAnswer(
  choices: NonNullable<AcpAsk['choices']>,
  requestId: string,
  outcome: Fields,
): AnswerCommand {
  const chosen = choices.find(({ id }) => id === text(outcome, 'optionId'))
  if (!chosen) return { type: 'answer', requestId, decision: 'deny' }
  return { type: 'answer', requestId, decision: 'answered', answers: { [QUESTION]: [chosen.label] } }
}
