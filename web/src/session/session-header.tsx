import { continuationText, quotaText, type SessionFacts, type SessionRecord } from 'mainstem/client'
import { lazy, Suspense, useEffect } from 'react'
import { useNow } from '../app/clock.ts'
import { type SessionTab, sessionHref } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { agents, loadAgents } from '../inbox/agents-store.ts'
import { BilledBy } from '../inbox/billed-by.tsx'
import { silenceOf, waits } from '../inbox/groups.ts'
import { APPROVALS, SANDBOXES } from '../inbox/policies.ts'
import { nodes } from '../nodes/nodes-store.ts'
import { clockTime, cost, count, shortPath, tokens } from '../text/format.ts'
import { showHidden } from '../text/hidden.ts'
import { Badge } from '../ui/badge.tsx'
import { ConnectionBadge } from './connection-badge.tsx'
import { NextAsking } from './next-asking.tsx'
import { OUTCOMES } from './outcome.ts'
import type { SessionView } from './session-store.ts'
import { SessionTitle } from './session-title.tsx'

const SettingsMenu = lazy(() => import('./settings-menu.tsx'))

const TABS: Record<SessionTab, string> = {
  conversation: 'Conversation',
  changes: 'Changes',
  events: 'Events',
  replay: 'Replay',
}

interface SessionHeaderProps {
  record: SessionRecord
  view: SessionView
  tab: SessionTab
}

/** The name, status and usage of the session. */
export function SessionHeader({ record, view, tab }: SessionHeaderProps) {
  const { facts } = view.timeline
  return (
    <header className="border-b border-line bg-panel px-3 pt-2 sm:px-5">
      <div className="flex items-center gap-2">
        <a
          href="#/"
          aria-label="Back to all sessions"
          className="rounded px-1.5 text-lg text-soft hover:text-ink md:hidden"
        >
          ←
        </a>
        <SessionTitle record={record} />
        <Standing record={record} />
        <ConnectionBadge connection={view.connection} />
      </div>
      <div className="mt-0.5 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-xs text-soft">
        <span>
          {record.agent} {showHidden(facts.agentVersion ?? '')}
        </span>
        {(record.model ?? facts.model) !== undefined && (
          <span>{showHidden(record.model ?? facts.model ?? '')}</span>
        )}
        <span title={showHidden(record.cwd)}>{shortPath(record.cwd)}</span>
        <span title={`Approval: ${record.policy.approval}, sandbox: ${record.policy.sandbox}`}>
          {APPROVALS[record.policy.approval]}
          {record.policy.sandbox !== 'none' && ` · ${SANDBOXES[record.policy.sandbox].toLowerCase()}`}
        </span>
        {record.node !== undefined && <RunsOn name={record.node} />}
        <Spent record={record} facts={facts} />
        <Billed id={record.agent} />
        <NextAsking current={record.id} />
        <Suspense>
          <SettingsMenu record={record} facts={facts} />
        </Suspense>
      </div>
      <nav aria-label="Views of the session" className="mt-1.5 flex gap-4">
        {Object.entries(TABS).map(([name, label]) => (
          <a
            key={name}
            href={sessionHref(record.id, name as SessionTab)}
            aria-current={name === tab ? 'page' : undefined}
            className={`border-b-2 pb-1 text-sm ${name === tab ? 'border-accent font-medium' : 'border-transparent text-soft hover:text-ink'}`}
          >
            {label}
          </a>
        ))}
      </nav>
    </header>
  )
}

function Standing({ record }: { record: SessionRecord }) {
  const now = useNow()
  if (record.failure) return <Badge look="bad">{record.failure.code.replace('_', ' ')}</Badge>
  if (waits(record)) return <Badge look="ask">needs you</Badge>
  if (record.status === 'busy') {
    const silent = silenceOf(record, now)
    return (
      <Badge look={silent === undefined ? 'accent' : 'ask'}>
        {silent === undefined ? 'running' : `no output for ${clockTime(silent)}`}
      </Badge>
    )
  }
  const continues = continuationText(record, now)
  if (continues !== undefined) return <Badge look="ask">{continues}</Badge>
  const quota = quotaText(record, now)
  if (quota !== undefined) return <Badge look="bad">{quota}</Badge>
  if (!record.lastOutcome) return <Badge>{record.status}</Badge>
  const { label, look, meaning } = OUTCOMES[record.lastOutcome]
  return (
    <span title={meaning} className="inline-flex">
      <Badge look={look}>{label}</Badge>
    </span>
  )
}

/** The node that runs the session, or ran it last. */
function RunsOn({ name }: { name: string }) {
  const state = useStore(nodes).find((node) => node.name === name)?.state
  return (
    <a href="#/nodes" className="hover:text-ink" title="The node that runs the session, or ran it last">
      on {name}
      {state !== undefined && state !== 'ready' && <span className="text-bad"> ({state})</span>}
    </a>
  )
}

function Billed({ id }: { id: string }) {
  const agent = useStore(agents)?.find((one) => one.id === id)
  useEffect(() => void loadAgents(), [])
  return agent ? <BilledBy agent={agent} /> : null
}

/** Usage with its source, and how full the context is. */
function Spent({
  record: { usage },
  facts: { context, usageSource },
}: {
  record: SessionRecord
  facts: SessionFacts
}) {
  const source = usageSource === 'computed' ? 'computed by Mainstem' : 'reported by the agent'
  const used = context?.used
  const share = used !== undefined && context?.size ? Math.round((100 * used) / context.size) : undefined
  return (
    <>
      {usage.total !== undefined && (
        <span
          title={`${source}: ${usage.input ?? 0} input, ${usage.cacheRead ?? 0} read from cache, ${usage.output ?? 0} output`}
        >
          {tokens(usage)}
          {cost(usage) !== undefined && ` · ${cost(usage)}`} <span>({usageSource ?? 'agent'})</span>
        </span>
      )}
      {used !== undefined && (
        <span title={`${used} of ${context?.size ?? 'an unknown number of'} tokens`}>
          context {count(used)}
          {share !== undefined && ` (${share}%)`}
        </span>
      )}
    </>
  )
}
