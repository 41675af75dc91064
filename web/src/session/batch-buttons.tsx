import { offeredScopes, type RequestOpened } from 'mainstem/client'
import { useState } from 'react'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { answerGate } from './answer-gate.ts'
import { send } from './answering.ts'
import { cardId } from './request-card.tsx'
import { clickedBy, useAnswerGate } from './use-answer-gate.ts'

interface BatchButtonsProps {
  session: string
  permissions: readonly RequestOpened[]
  /** Called to unfold every request. */
  onReview(): void
  onAnswered(late: string | undefined): void
}

/** Answers several permissions at once. Requests that arrive after "Review all" are not part of what it allows. */
export function BatchButtons({ session, permissions, onReview, onAnswered }: BatchButtonsProps) {
  const [reviewed, setReviewed] = useState<ReadonlySet<string>>(new Set())
  const { busy, error, run } = useAction()
  const shown = permissions.filter((request) => reviewed.has(cardId(session, request)))
  const batch = shown.filter((request) => offeredScopes(request).includes('once'))
  if (permissions.length < 2) return null
  const answer = (requests: readonly RequestOpened[], decision: 'allow' | 'deny') =>
    run(async () => {
      for (const request of requests) answerGate.startAgain(cardId(session, request))
      setReviewed(new Set())
      const results = await Promise.all(requests.map((request) => send(session, request, { decision })))
      onAnswered(results.find((result) => result !== undefined))
    })
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="flex-1 text-sm text-soft">{permissions.length} permissions wait</span>
      {shown.length < permissions.length && (
        <Button
          onClick={() => {
            setReviewed(new Set(permissions.map((request) => cardId(session, request))))
            onReview()
          }}
        >
          Review all
        </Button>
      )}
      {batch.length > 1 && (
        <AllowAll
          session={session}
          batch={batch}
          all={batch.length === permissions.length}
          busy={busy}
          onAllow={() => answer(batch, 'allow')}
        />
      )}
      <Button look="danger" disabled={busy} onClick={() => answer(permissions, 'deny')}>
        Deny all
      </Button>
      {error !== undefined && (
        <p role="alert" className="w-full text-center text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  )
}

interface AllowAllProps {
  session: string
  batch: readonly RequestOpened[]
  /** Whether the batch has every open permission. */
  all: boolean
  busy: boolean
  onAllow(): void
}

function AllowAll({ session, batch, all, busy, onAllow }: AllowAllProps) {
  const gate = useAnswerGate(
    `${session} batch`,
    batch.map((request) => cardId(session, request)),
  )
  return (
    <span ref={gate.element}>
      <Button
        aria-disabled={busy || gate.readiness !== 'ready'}
        title={gate.readiness === 'unread' ? 'Read every request to its end to allow them' : undefined}
        onClick={(event) => {
          if (gate.mayAllow(clickedBy(event))) onAllow()
        }}
      >
        {all ? 'Allow all once' : `Allow ${batch.length} once`}
      </Button>
    </span>
  )
}
