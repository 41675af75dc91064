import { useMemo } from 'react'
import { go } from '../app/navigation.ts'
import { sessionHref } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { groupsOf } from '../inbox/groups.ts'
import { inbox } from '../inbox/inbox-store.ts'
import { useKeys } from '../ui/keys.ts'
import { useSwipe } from '../ui/swipe.ts'

/** Leads to the session that has waited longest, besides the one that is shown; a swipe leads through all that wait. */
export function NextAsking({ current }: { current: string }) {
  const { records } = useStore(inbox)
  const all = useMemo(() => groupsOf(records.values()).asking.map(({ id }) => id), [records])
  const asking = all.filter((id) => id !== current)
  const [next] = asking
  const open = (id: string | undefined) => {
    if (id !== undefined) go({ screen: 'session', id, tab: 'conversation', seq: undefined })
  }
  useKeys(next === undefined ? {} : { g: () => open(next) })
  useSwipe((towards) => {
    const at = all.indexOf(current)
    // From a session that waits for nobody, both ways lead to the one that has waited longest.
    open(at === -1 ? next : all.at((at + towards) % all.length))
  })
  if (next === undefined) return null
  return (
    <a href={sessionHref(next)} aria-keyshortcuts="g" title="Key: G" className="text-ask hover:underline">
      {asking.length === 1 ? 'One more needs you' : `${asking.length} more need you`} →
    </a>
  )
}
