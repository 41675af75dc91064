import type { TimelineItem } from 'mainstem/client'
import { useLayoutEffect, useRef } from 'react'
import { VList } from 'virtua'
import { Button } from '../ui/button.tsx'
import { useFollowEnd } from '../ui/follow-end.ts'
import { ItemView } from './items/item-view.tsx'
import type { SessionStore, SessionView } from './session-store.ts'

/** Distance from the start, in pixels, at which older entries are read. */
const NEAR_START = 400

/** The conversation, newest at the bottom. It follows the end until someone scrolls up, and reads older pages at the top. */
export function TimelineView({ store, view }: { store: SessionStore; view: SessionView }) {
  const { timeline, version, prepended, loadingOlder } = view
  const frame = useRef<HTMLDivElement>(null)
  const { following, toEnd } = useFollowEnd(frame)
  // A new list for each change: the items of the fold are one list that grows in place.
  const rows: (TimelineItem | 'start')[] = ['start', ...timeline.items]
  // Keeps the place of the reader in the list when items arrive in front of it.
  const before = useRef(prepended)
  const shift = prepended !== before.current
  useLayoutEffect(() => {
    before.current = prepended
  }, [prepended])
  const onScroll = (offset: number) => {
    if (!following && offset < NEAR_START && store.hasOlder) void store.older()
  }
  return (
    <div
      ref={frame}
      className="relative min-h-0 flex-1"
      data-first-seq={timeline.first}
      data-last-seq={timeline.last}
      data-entries={store.count}
      data-version={version}
    >
      <VList
        data-scroller
        data={rows}
        shift={shift}
        onScroll={onScroll}
        className="h-full px-3 sm:px-5"
        aria-label="Conversation"
        tabIndex={0}
      >
        {(row) =>
          row === 'start' ? (
            <div key="start" className="py-2 text-center text-xs text-soft">
              {store.hasOlder ? (
                <Button look="quiet" disabled={loadingOlder} onClick={() => void store.older()}>
                  {loadingOlder ? 'Reading older entries…' : 'Read older entries'}
                </Button>
              ) : (
                'Start of the session'
              )}
            </div>
          ) : (
            <div key={row.key} className={`mx-auto max-w-3xl ${row.kind === 'tool' ? 'py-0.5' : 'py-2'}`}>
              <ItemView item={row} />
            </div>
          )
        }
      </VList>
      {!following && (
        <div className="absolute inset-x-0 bottom-2 flex justify-center">
          <Button onClick={toEnd} className="shadow-pop">
            To the end ↓
          </Button>
        </div>
      )}
    </div>
  )
}
