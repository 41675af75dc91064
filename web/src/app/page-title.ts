import { useEffect } from 'react'
import { groupsOf, titleOf } from '../inbox/groups.ts'
import { inbox } from '../inbox/inbox-store.ts'
import type { Route } from './route.ts'
import { useStore } from './store.ts'

/** The title of the tab: how many sessions need someone, and which one is shown. */
export function usePageTitle(route: Route): void {
  const { records } = useStore(inbox)
  const shown = route.screen === 'session' ? records.get(route.id) : undefined
  const asking = groupsOf(records.values()).asking.length
  const title = `${asking > 0 ? `(${asking}) ` : ''}${shown ? `${titleOf(shown)} · ` : ''}Mainstem`
  useEffect(() => {
    document.title = title
  }, [title])
}
