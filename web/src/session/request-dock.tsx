import type { RequestOpened } from 'mainstem/client'
import { useState } from 'react'
import { useRoute } from '../app/navigation.ts'
import { Button } from '../ui/button.tsx'
import { BatchButtons } from './batch-buttons.tsx'
import { cardId, RequestCard } from './request-card.tsx'

interface RequestDockProps {
  session: string
  requests: readonly RequestOpened[]
  /** The name of a sub-agent in the conversation. */
  subagentName(id: string): string | undefined
  onAnswered(): void
}

/** The open requests of a session, in reach of a thumb: the one that the address names or the oldest, and the others when they are unfolded. */
export function RequestDock({ session, requests, subagentName, onAnswered }: RequestDockProps) {
  const [late, setLate] = useState<string>()
  const [unfolded, setUnfolded] = useState(false)
  const route = useRoute()
  const named = route.screen === 'session' ? route.request : undefined
  const ordered = requests.toSorted((a, b) => Number(b.requestId === named) - Number(a.requestId === named))
  const answered = (reason: string | undefined) => {
    setLate(reason)
    onAnswered()
  }
  if (requests.length === 0) return late === undefined ? null : <Late reason={late} />
  const shown = unfolded ? ordered : ordered.slice(0, 1)
  const folded = requests.length - shown.length
  return (
    <section
      aria-label="Requests"
      className="mx-auto mb-2 flex max-h-[60dvh] w-full max-w-3xl flex-col gap-2"
    >
      <BatchButtons
        session={session}
        permissions={requests.filter(({ kind }) => kind === 'permission')}
        onReview={() => setUnfolded(true)}
        onAnswered={answered}
      />
      <div className="min-h-0 space-y-2 overflow-y-auto p-0.5">
        {shown.map((request) => (
          <RequestCard
            key={cardId(session, request)}
            session={session}
            request={request}
            subagent={request.parent === undefined ? undefined : subagentName(request.parent)}
            onAnswered={answered}
          />
        ))}
      </div>
      {folded > 0 && (
        <Button aria-expanded={false} onClick={() => setUnfolded(true)}>
          Show {folded} more
        </Button>
      )}
      {late !== undefined && <Late reason={late} />}
    </section>
  )
}

function Late({ reason }: { reason: string }) {
  return (
    <p role="alert" className="mb-2 text-center text-sm text-bad">
      {reason}
    </p>
  )
}
