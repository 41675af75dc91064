import { useEffect, useMemo } from 'react'
import { useStore } from '../app/store.ts'
import { attentive } from '../app/visible.ts'
import { SessionStore, type SessionView } from './session-store.ts'

/** A session, followed while the page is in view. */
export function useSession(id: string): readonly [store: SessionStore, view: SessionView] {
  const store = useMemo(() => new SessionStore(id), [id])
  const follows = useStore(attentive)
  useEffect(() => {
    if (!follows) return
    void store.follow()
    return () => store.stop()
  }, [store, follows])
  return [store, useStore(store)]
}
