import { useState } from 'react'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { send } from './answering.ts'
import type { RequestOpened } from './fold/items.ts'
import { RequestCard } from './request-card.tsx'

interface RequestDockProps {
  session: string
  requests: readonly RequestOpened[]
  onAnswered(): void
}

/** The open requests of a session, in reach of a thumb. The oldest has the keys; several permissions can be answered at once. */
export function RequestDock({ session, requests, onAnswered }: RequestDockProps) {
  const [late, setLate] = useState<string>()
  const { busy, error, run } = useAction()
  const permissions = requests.filter(({ kind }) => kind === 'permission')
  const [first, ...others] = requests
  const all = (decision: 'allow' | 'deny') =>
    run(async () => {
      const results = await Promise.all(permissions.map((request) => send(session, request, { decision })))
      answered(results.find((result) => result !== undefined))
    })
  const answered = (reason: string | undefined) => {
    setLate(reason)
    onAnswered()
  }
  if (!first) return late === undefined ? null : <Late reason={late} />
  return (
    <section
      aria-label="Requests"
      className="mx-auto mb-2 max-h-[60dvh] w-full max-w-4xl space-y-2 overflow-y-auto"
    >
      {permissions.length > 1 && (
        <div className="flex flex-wrap items-center gap-2">
          <span className="flex-1 text-sm text-soft">{permissions.length} permissions wait</span>
          <Button disabled={busy} onClick={() => all('allow')}>
            Allow all once
          </Button>
          <Button look="danger" disabled={busy} onClick={() => all('deny')}>
            Deny all
          </Button>
        </div>
      )}
      <RequestCard key={first.requestId} session={session} request={first} keys onAnswered={answered} />
      {others.length > 0 && (
        <details>
          <summary className="text-sm text-soft">{others.length} more</summary>
          <div className="mt-2 space-y-2">
            {others.map((request) => (
              <RequestCard
                key={request.requestId}
                session={session}
                request={request}
                keys={false}
                onAnswered={answered}
              />
            ))}
          </div>
        </details>
      )}
      {(late ?? error) !== undefined && <Late reason={late ?? error ?? ''} />}
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
