import { useEffect } from 'react'
import { activities } from '../inbox/activities.ts'
import { groupsOf, titleOf } from '../inbox/groups.ts'
import { inbox } from '../inbox/inbox-store.ts'
import { doingOf, doingText } from '../session/doing.ts'
import { showHidden } from '../text/hidden.ts'
import type { Route } from './route.ts'
import { useStore } from './store.ts'

/** The title of the tab: how many sessions need someone, which one is shown, and what it is doing. */
export function usePageTitle(route: Route): void {
  const { records } = useStore(inbox)
  const shown = route.screen === 'session' ? records.get(route.id) : undefined
  const asking = groupsOf(records.values()).asking.length
  const timeline = useStore(activities).get(shown?.id ?? '')
  const doing = shown && doingOf(shown, timeline)
  // The number says already that someone is asked.
  const parts = [
    ...(doing && !doing.isAsking ? [doingText(doing)] : []),
    ...(shown ? [titleOf(shown)] : []),
    'Mainstem',
  ]
  const title = `${asking > 0 ? `(${asking}) ` : ''}${parts.join(' · ')}`
  useEffect(() => {
    document.title = showHidden(title)
  }, [title])
}
