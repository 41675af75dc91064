import { escapeInvisible, type RequestItem, requestText } from 'mainstem/client'
import { showHidden } from '../../text/hidden.ts'
import { useRelativePaths } from '../../text/workspace.ts'

const DECISIONS = { allow: 'Allowed', deny: 'Denied', answered: 'Answered' } as const

/** The outcome of a request, as a line of the conversation. Open requests have a card at the bottom. */
export function RequestView({ item: { request, resolved, withdrawn } }: { item: RequestItem }) {
  const { cwd } = useRelativePaths()
  const what = escapeInvisible(requestText(request, cwd))
  return (
    <p className="flex flex-wrap gap-x-2 text-xs text-soft">
      <span>{showHidden(standingOf(resolved, withdrawn))}</span>
      <span className="min-w-0 truncate text-ink">{what}</span>
      {resolved?.answers && <span>{showHidden(Object.values(resolved.answers).flat().join(', '))}</span>}
      {resolved?.message !== undefined && <span>“{showHidden(resolved.message)}”</span>}
    </p>
  )
}

/** Earlier logs do not name the person. */
function deciderOf({ by, principal, client }: NonNullable<RequestItem['resolved']>): string {
  if (by !== 'person') return by === 'policy' ? 'the policy' : 'a hook'
  return `${principal ?? 'a person'}${client === undefined ? '' : ` (${client})`}`
}

function standingOf(resolved: RequestItem['resolved'], withdrawn: RequestItem['withdrawn']): string {
  if (resolved) {
    const scope = resolved.scope !== undefined && resolved.scope !== 'once' ? ` (${resolved.scope})` : ''
    return `${DECISIONS[resolved.decision]} by ${deciderOf(resolved)}${scope}:`
  }
  return withdrawn ? `Withdrawn (${withdrawn.reason.replaceAll('_', ' ')}):` : 'Waiting for an answer:'
}
