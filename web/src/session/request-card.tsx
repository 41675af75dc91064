import { escapeInvisible, type RequestAnswer, type RequestOpened } from 'mainstem/client'
import { useAction } from '../ui/action.ts'
import { answerGate } from './answer-gate.ts'
import { send } from './answering.ts'
import { PermissionForm } from './permission-form.tsx'
import { QuestionForm } from './question-form.tsx'
import { type Gate, useAnswerGate } from './use-answer-gate.ts'

const KINDS: Record<RequestOpened['kind'], string> = {
  permission: 'Permission',
  question: 'Question',
  plan: 'Plan to approve',
  login: 'Login',
}

/** The identity of a card. A request that changes its input is another card, which nobody has seen yet. */
export const cardId = (session: string, { requestId, inputDigest }: RequestOpened): string =>
  `${session} ${requestId} ${inputDigest}`

/** What the form of a request needs from its card. */
export interface RequestFormProps {
  request: RequestOpened
  busy: boolean
  gate: Gate
  onAnswer(answer: Omit<RequestAnswer, 'inputDigest'>): void
}

interface RequestCardProps {
  session: string
  request: RequestOpened
  /** The sub-agent that asks, as the conversation names it. */
  subagent?: string | undefined
  /** Called after an answer was sent, with the reason if it came too late: the card is gone by then. */
  onAnswered(late: string | undefined): void
}

/** A request that waits for a person: the whole request, and all answers. Use `cardId` as its key. */
export function RequestCard({ session, request, subagent, onAnswered }: RequestCardProps) {
  const { busy, error, run } = useAction()
  const id = cardId(session, request)
  const gate = useAnswerGate(id)
  const { kind, tool, questions = [], inputDigest, parent } = request
  const asker = parent === undefined ? undefined : escapeInvisible(`sub-agent ${subagent ?? parent}`)
  const Form = questions.length > 0 ? QuestionForm : PermissionForm
  const answer: RequestFormProps['onAnswer'] = (given) =>
    run(async () => {
      answerGate.answered(id)
      onAnswered(await send(session, request, given))
    })
  const select = () => answerGate.select(id)
  return (
    <article
      ref={gate.element}
      tabIndex={-1}
      aria-label={labelOf(KINDS[kind], tool, asker)}
      aria-current={gate.selected}
      data-request={request.requestId}
      data-readiness={gate.readiness}
      className={`overflow-hidden rounded-lg border bg-panel ${gate.selected ? 'border-accent ring-2 ring-accent' : 'border-ask/40'}`}
      onFocusCapture={select}
      onPointerDownCapture={select}
    >
      <header className="flex items-center justify-between gap-2 bg-ask-wash px-3 py-1.5">
        <span className="text-xs leading-5 font-medium text-ask">{KINDS[kind]}</span>
        {asker !== undefined && <span className="min-w-0 flex-1 truncate text-xs text-ask">{asker}</span>}
        <code className="text-xs text-ask" title={`Your answer is bound to this input: ${inputDigest}`}>
          {inputDigest.slice(0, 8)}
        </code>
      </header>
      <Form request={request} busy={busy} gate={gate} onAnswer={answer} />
      {error !== undefined && (
        <p role="alert" className="px-3 pb-3 text-sm text-bad">
          {error}
        </p>
      )}
    </article>
  )
}

function labelOf(kind: string, tool: string | undefined, asker: string | undefined): string {
  const subject = tool === undefined ? kind : `${kind}: ${escapeInvisible(tool)}`
  return asker === undefined ? subject : `${subject}, ${asker}`
}
