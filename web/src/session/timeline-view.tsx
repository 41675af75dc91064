import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { VList, type VListHandle } from 'virtua'
import { Button } from '../ui/button.tsx'
import { ItemView } from './items/item-view.tsx'
import type { SessionStore, SessionView } from './session-store.ts'

/** Distance from an edge, in pixels, at which the view follows the end or reads older entries. */
const NEAR = 80

/** The conversation, newest at the bottom. It follows the end until someone scrolls up, and reads older pages at the top. */
export function TimelineView({ store, view }: { store: SessionStore; view: SessionView }) {
  const { timeline, version, prepended, loadingOlder } = view
  const list = useRef<VListHandle>(null)
  const following = useRef(true)
  const [away, setAway] = useState(false)
  const offsetBefore = useRef(0)
  const frame = useRef<HTMLDivElement>(null)
  const { items } = timeline
  // Keeps the place of the reader in the list when items arrive in front of it.
  const before = useRef(prepended)
  const shift = prepended !== before.current
  useLayoutEffect(() => {
    before.current = prepended
  }, [prepended])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version counts the changes of the timeline
  useEffect(() => {
    if (following.current) list.current?.scrollToIndex(items.length, { align: 'end' })
  }, [version, items.length])
  // A card below the list takes room from it, and gives it back.
  useEffect(() => {
    if (!frame.current) return
    const observer = new ResizeObserver(() => {
      if (following.current) list.current?.scrollTo(Number.MAX_SAFE_INTEGER)
    })
    observer.observe(frame.current)
    return () => observer.disconnect()
  }, [])
  const toEnd = () => {
    following.current = true
    list.current?.scrollToIndex(items.length, { align: 'end' })
  }
  const onScroll = (offset: number) => {
    const handle = list.current
    if (!handle) return
    const atEnd = offset + handle.viewportSize >= handle.scrollSize - NEAR
    // Content that grows moves the end away; only a person moves the place upwards.
    if (atEnd) following.current = true
    else if (offset < offsetBefore.current) following.current = false
    offsetBefore.current = offset
    setAway(!following.current)
    if (offset < NEAR * 4 && store.hasOlder) void store.older()
  }
  return (
    <div
      ref={frame}
      className="relative min-h-0 flex-1"
      data-first-seq={timeline.first}
      data-last-seq={timeline.last}
      data-version={version}
    >
      <VList
        ref={list}
        shift={shift}
        onScroll={onScroll}
        className="h-full px-3 sm:px-5"
        aria-label="Conversation"
        tabIndex={0}
      >
        <div key="start" className="py-2 text-center text-xs text-soft">
          {store.hasOlder ? (
            <Button look="quiet" disabled={loadingOlder} onClick={() => void store.older()}>
              {loadingOlder ? 'Reading older entries…' : 'Read older entries'}
            </Button>
          ) : (
            'Start of the session'
          )}
        </div>
        {items.map((item) => (
          <div key={item.key} className="mx-auto max-w-4xl py-1.5">
            <ItemView item={item} />
          </div>
        ))}
        <div key="end" className="h-3" />
      </VList>
      {away && (
        <div className="absolute inset-x-0 bottom-2 flex justify-center">
          <Button onClick={toEnd} className="shadow-sm">
            To the end ↓
          </Button>
        </div>
      )}
    </div>
  )
}
