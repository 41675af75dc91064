import { escapeInvisible, type SessionRecord } from 'mainstem/client'
import { client } from '../../app/client.ts'
import { useAction } from '../../ui/action.ts'
import { Button } from '../../ui/button.tsx'

interface QueueProps {
  record: SessionRecord
  /** Called with the text of a prompt that was taken out of the queue to be changed. */
  onEdit(text: string): void
}

/** The prompts that wait. One can be removed, or taken back into the field. */
export function Queue({ record: { id, queue }, onEdit }: QueueProps) {
  const { busy, error, run } = useAction()
  if (queue.length === 0) return null
  return (
    <div className="mb-1.5 rounded-lg border border-line bg-panel px-2.5 py-1 text-sm">
      <ol aria-label="Queue">
        {queue.map(({ turn, prompt, truncated, images = 0 }, index) => (
          <li key={turn} className="flex items-center gap-2 py-0.5">
            <span className="text-xs text-soft tabular-nums">{index + 1}</span>
            <span className="min-w-0 flex-1 truncate">{escapeInvisible(prompt)}</span>
            {images > 0 && <span className="text-xs text-soft">{images} images</span>}
            {/* The server lists the beginning of a long prompt alone, and no images. */}
            {!truncated && images === 0 && (
              <Button
                look="quiet"
                size="small"
                disabled={busy}
                onClick={() => run(() => client.unqueue(id, turn).then(() => onEdit(prompt)))}
              >
                Edit
              </Button>
            )}
            <Button
              look="quiet"
              size="small"
              disabled={busy}
              onClick={() => run(() => client.unqueue(id, turn))}
            >
              Remove
            </Button>
          </li>
        ))}
      </ol>
      {error !== undefined && (
        <p role="alert" className="text-xs text-bad">
          {error}
        </p>
      )}
    </div>
  )
}
