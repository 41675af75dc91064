import { isForPerson } from 'mainstem/client'
import { useMemo, useState } from 'react'
import { sessionHref } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { cardId, RequestCard } from '../session/request-card.tsx'
import { shortPath } from '../text/format.ts'
import { Workspace } from '../text/workspace.ts'
import { Notice } from '../ui/notice.tsx'
import { groupsOf, titleOf } from './groups.ts'
import { inbox } from './inbox-store.ts'
import { NewSession } from './new-session.tsx'

/** The start: every request that waits, and the form of a new session. */
export function Overview() {
  const { records, loaded } = useStore(inbox)
  const [late, setLate] = useState<string>()
  const { asking } = useMemo(() => groupsOf(records.values()), [records])
  const open = asking.flatMap((record) =>
    record.requests.filter(isForPerson).map((request) => ({ record, request })),
  )
  return (
    <div className="mx-auto w-full max-w-3xl space-y-6 p-4 sm:p-6">
      {late !== undefined && <Notice level="error">{late}</Notice>}
      {open.length > 0 && (
        <section aria-labelledby="needs-you" className="space-y-3">
          <h1 id="needs-you" className="text-lg font-semibold">
            {open.length === 1 ? 'One request needs you' : `${open.length} requests need you`}
          </h1>
          {open.map(({ record, request }) => (
            <div key={cardId(record.id, request)}>
              <a href={sessionHref(record.id)} className="mb-1 flex gap-2 text-xs text-soft hover:text-ink">
                <span className="truncate font-medium">{titleOf(record)}</span>
                <span>{record.agent}</span>
                <span className="truncate">{shortPath(record.cwd)}</span>
              </a>
              <Workspace value={record.cwd}>
                <RequestCard
                  session={record.id}
                  request={request}
                  onAnswered={(reason) => {
                    setLate(reason)
                    void inbox.refresh(record.id)
                  }}
                />
              </Workspace>
            </div>
          ))}
        </section>
      )}
      {loaded && <NewSession first={records.size === 0} />}
    </div>
  )
}
