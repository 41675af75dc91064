import type { FileChanged, TimelineItem } from 'mainstem/client'
import { DiffView } from '../text/diff-view.tsx'
import { Button } from '../ui/button.tsx'
import { keyed } from '../ui/keyed.ts'
import type { SessionStore, SessionView } from './session-store.ts'

function changesIn(items: readonly TimelineItem[]): FileChanged[] {
  return items.flatMap((item) => {
    if (item.kind === 'file') return [item.file]
    if (item.kind !== 'tool') return []
    return [...item.files, ...(item.subagent ? changesIn(item.subagent.items) : [])]
  })
}

/** Every change of a file, grouped by its path, in the order of the log. */
export default function ChangesTab({ store, view }: { store: SessionStore; view: SessionView }) {
  const files = Map.groupBy(changesIn(view.timeline.items), ({ path }) => path)
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-3 sm:p-5">
      <div className="mx-auto max-w-4xl space-y-4">
        {store.hasOlder && (
          <p className="flex items-center gap-2 text-sm text-soft">
            Older entries are not read yet.
            <Button onClick={() => void store.older()}>Read older entries</Button>
          </p>
        )}
        {files.size === 0 && (
          <p className="py-6 text-center text-soft">The agent reported no change of a file.</p>
        )}
        {[...files].map(([path, changes]) => (
          <section key={path} aria-label={path} className="space-y-1">
            {keyed(changes, () => path).map(([key, file]) => (
              <DiffView key={key} file={file} />
            ))}
          </section>
        ))}
      </div>
    </div>
  )
}
