import { useState } from 'react'
import { client } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { inbox } from '../inbox/inbox-store.ts'
import { Button } from '../ui/button.tsx'

async function remove(id: string): Promise<void> {
  await client.delete(id)
  go({ screen: 'inbox' })
  await inbox.refresh(id)
}

interface DeleteButtonProps {
  id: string
  busy: boolean
  run(work: () => Promise<unknown>): void
}

/** Asks once more, because a deleted session cannot be restored. */
export function DeleteButton({ id, busy, run }: DeleteButtonProps) {
  const [sure, setSure] = useState(false)
  return (
    <div className="space-y-1">
      {sure && <p className="text-xs text-soft">Its log, raw frames and files are removed for good.</p>}
      <Button
        look="danger"
        className="w-full"
        disabled={busy}
        onClick={() => (sure ? run(() => remove(id)) : setSure(true))}
      >
        {sure ? 'Delete for good' : 'Delete session…'}
      </Button>
    </div>
  )
}
