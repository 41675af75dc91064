import { useEffect, useRef, useState } from 'react'
import { unmasked } from '../text/format.ts'
import { useAction } from '../ui/action.ts'
import { Badge } from '../ui/badge.tsx'
import { send } from './answering.ts'
import type { RequestOpened } from './fold/items.ts'
import { InputView } from './input-view.tsx'
import { PermissionButtons } from './permission-buttons.tsx'
import { QuestionForm } from './question-form.tsx'

const KINDS: Record<RequestOpened['kind'], string> = {
  permission: 'Permission',
  question: 'Question',
  plan: 'Plan to approve',
  login: 'Login',
}

/** Keys work after the card was visible for this long, to prevent approving a card that just appeared. */
const ARMED_MS = 400

export interface RequestCardProps {
  session: string
  request: RequestOpened
  /** Whether the keys belong to this card. */
  keys: boolean
  /** Called after an answer was sent, with the reason if it came too late: the card is gone by then. */
  onAnswered(late: string | undefined): void
}

/** A request that waits for a person: the whole request, and all answers. */
export function RequestCard({ session, request, keys, onAnswered }: RequestCardProps) {
  const { busy, error, run } = useAction()
  const armed = useArmed(request.requestId)
  const answer = (given: Parameters<typeof send>[2]) =>
    run(async () => onAnswered(await send(session, request, given)))
  const { kind, tool, title, input, questions, inputDigest } = request
  return (
    <article
      aria-label={`${KINDS[kind]}${tool === undefined ? '' : `: ${tool}`}`}
      data-request={request.requestId}
      className="overflow-hidden rounded-lg border border-ask/40 bg-panel"
    >
      <header className="flex flex-wrap items-center gap-2 bg-ask-wash px-3 py-1.5">
        <Badge look="ask">{KINDS[kind]}</Badge>
        <span className="min-w-0 flex-1 truncate font-medium">{unmasked(title ?? tool ?? '')}</span>
        <code className="text-xs text-ask" title={`Your answer is bound to this input: ${inputDigest}`}>
          {inputDigest.slice(0, 8)}
        </code>
      </header>
      <div className="max-h-[35dvh] space-y-2 overflow-y-auto px-3 py-2">
        {kind !== 'question' && <InputView input={input} />}
        <Locations request={request} />
      </div>
      <div className="px-3 pb-3">
        {questions && questions.length > 0 ? (
          <QuestionForm questions={questions} busy={busy} keys={keys && armed} onAnswer={answer} />
        ) : (
          <PermissionButtons options={request.options} busy={busy} keys={keys && armed} onAnswer={answer} />
        )}
        {error !== undefined && (
          <p role="alert" className="mt-2 text-sm text-bad">
            {error}
          </p>
        )}
      </div>
    </article>
  )
}

/** The files of a request, as far as its input does not show them already. */
function Locations({ request: { locations = [], input } }: { request: RequestOpened }) {
  const shown = JSON.stringify(input) ?? ''
  const more = locations.filter(({ path }) => !shown.includes(JSON.stringify(path)))
  if (more.length === 0) return null
  return <p className="text-xs text-soft">{more.map(({ path }) => unmasked(path)).join(', ')}</p>
}

function useArmed(id: string): boolean {
  const [armed, setArmed] = useState<string>()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    timer.current = setTimeout(() => setArmed(id), ARMED_MS)
    return () => clearTimeout(timer.current)
  }, [id])
  return armed === id
}
