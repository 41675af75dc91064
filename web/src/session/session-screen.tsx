import { subagentName, type Timeline } from 'mainstem/client'
import { lazy, Suspense, useEffect } from 'react'
import type { SessionTab } from '../app/route.ts'
import { toggleArchived, togglePinned } from '../inbox/session-actions.ts'
import { showHidden } from '../text/hidden.ts'
import { Workspace } from '../text/workspace.ts'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { useKeys } from '../ui/keys.ts'
import { Notice } from '../ui/notice.tsx'
import { Composer } from './compose/composer.tsx'
import { currentSession } from './current-session.ts'
import { presentRecord } from './present-record.ts'
import { RequestDock } from './request-dock.tsx'
import { SessionHeader } from './session-header.tsx'
import { openRequests, type SessionStore } from './session-store.ts'
import { TimelineView } from './timeline-view.tsx'
import { useSession } from './use-session.ts'
import { WorkingRow } from './working-row.tsx'

const EventsTab = lazy(() => import('../events/events-tab.tsx'))
const ReplayTab = lazy(() => import('../replay/replay-tab.tsx'))
const ChangesTab = lazy(() => import('./changes/changes-tab.tsx'))

interface SessionScreenProps {
  id: string
  tab: SessionTab
  seq: number | undefined
}

/** One session: its conversation, its changes, its events and its replay. */
export default function SessionScreen({ id, tab, seq }: SessionScreenProps) {
  const [store, view] = useSession(id)
  const { error } = view
  const record = presentRecord(view.record, view.timeline)
  const { facts } = view.timeline
  useEffect(() => currentSession.set(record && { record, facts }), [record, facts])
  useEffect(() => () => currentSession.set(undefined), [])
  useKeys({ p: () => togglePinned(id), e: () => toggleArchived(id) })
  if (!record) return <Loading id={id} error={error} />
  return (
    <Workspace value={record.cwd}>
      <div className="flex h-full min-h-0 flex-col">
        <SessionHeader record={record} view={view} tab={tab} />
        <Banners view={view} />
        <ErrorBoundary key={tab}>
          <Suspense fallback={<p className="p-6 text-center text-soft">Loading…</p>}>
            {tab === 'conversation' && (
              <>
                <TimelineView store={store} view={view} />
                <div className="px-3 sm:px-5">
                  <WorkingRow record={record} timeline={view.timeline} />
                </div>
              </>
            )}
            {tab === 'changes' && <ChangesTab record={record} head={view.timeline.last} />}
            {tab === 'events' && <EventsTab record={record} head={view.timeline.last} seq={seq} />}
            {tab === 'replay' && <ReplayTab record={record} />}
          </Suspense>
        </ErrorBoundary>
        {(tab === 'conversation' || tab === 'changes') && (
          // On a phone the buttons of a request are below the prompt, where the thumb is.
          <footer className="flex flex-col border-t border-line bg-page px-3 pt-2 pb-[max(0.5rem,env(safe-area-inset-bottom))] max-sm:flex-col-reverse sm:px-5">
            <RequestDock
              session={id}
              requests={openRequests(view)}
              subagentName={(agent) => subagentName(view.timeline, agent)}
              onAnswered={() => void store.refresh()}
            />
            <Composer record={record} facts={facts} lastPrompt={lastPromptOf(view.timeline)} />
          </footer>
        )}
      </div>
    </Workspace>
  )
}

/** The text that started the last turn. */
function lastPromptOf({ items }: Timeline): string | undefined {
  const last = items.findLast((item) => item.kind === 'prompt' && item.steered === undefined)
  return last?.kind === 'prompt' ? last.text : undefined
}

function Banners({ view: { timeline, error, record } }: { view: ReturnType<SessionStore['get']> }) {
  const { contextLost } = timeline.facts
  return (
    <>
      {contextLost && (
        <div className="px-3 pt-2 sm:px-5">
          <Notice level="warning">
            The agent continued without its earlier context. {showHidden(contextLost.message)}
          </Notice>
        </div>
      )}
      {record?.earliest !== undefined && (
        <div className="px-3 pt-2 sm:px-5">
          <Notice>Entries before {record.earliest} were removed by the retention settings.</Notice>
        </div>
      )}
      {error && (
        <div className="px-3 pt-2 sm:px-5">
          <Notice level="error">{error.message}</Notice>
        </div>
      )}
    </>
  )
}

function Loading({
  id,
  error,
}: {
  id: string
  error: { code: string | undefined; message: string } | undefined
}) {
  if (!error) return <p className="p-6 text-center text-soft">Loading…</p>
  return (
    <div className="mx-auto max-w-lg space-y-3 p-6">
      <Notice level="error">
        {error.code === 'session_not_found'
          ? `There is no session ${id}. It was removed, or it belongs to another token.`
          : error.message}
      </Notice>
      <a className="text-accent underline" href="#/">
        All sessions
      </a>
    </div>
  )
}
