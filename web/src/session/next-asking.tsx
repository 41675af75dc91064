import { useMemo } from 'react'
import { go } from '../app/navigation.ts'
import { sessionHref } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { groupsOf } from '../inbox/groups.ts'
import { inbox } from '../inbox/inbox-store.ts'
import { useKeys } from '../ui/keys.ts'

/** Leads to the session that has waited longest, besides the one that is shown. */
export function NextAsking({ current }: { current: string }) {
  const { records } = useStore(inbox)
  const asking = useMemo(
    () => groupsOf(records.values()).asking.filter(({ id }) => id !== current),
    [records, current],
  )
  const [next] = asking
  const open = (id: string) => go({ screen: 'session', id, tab: 'conversation', seq: undefined })
  useKeys(next ? { g: () => open(next.id) } : {})
  if (!next) return null
  return (
    <a href={sessionHref(next.id)} aria-keyshortcuts="g" title="Key: G" className="text-ask hover:underline">
      {asking.length === 1 ? 'One more needs you' : `${asking.length} more need you`} →
    </a>
  )
}
