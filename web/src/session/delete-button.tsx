import type { SessionRecord } from 'mainstem/client'
import { removeSession } from '../inbox/session-actions.ts'
import { Button } from '../ui/button.tsx'

/** Deletes a session at once on the page, and on the server when the time to undo it is over. */
export function DeleteButton({ record }: { record: SessionRecord }) {
  return (
    <div className="space-y-1">
      <Button look="danger" className="w-full" onClick={() => removeSession(record)}>
        Delete session
      </Button>
      <p className="text-xs text-soft">
        Removes its log, raw frames and files. You can undo it for a few seconds.
      </p>
    </div>
  )
}
