import { escapeInvisible } from 'mainstem/client'
import { useRelativePaths } from '../../text/workspace.ts'
import { Icon } from '../../ui/icon.tsx'
import { type Draft, drafts } from './drafts.ts'

interface AttachmentsProps {
  draft: string
  value: Draft
}

/** Images and comments that go with the prompt. */
export function Attachments({ draft, value: { images, comments } }: AttachmentsProps) {
  const { path } = useRelativePaths()
  if (images.length === 0 && comments.length === 0) return null
  return (
    <ul aria-label="Goes with the prompt" className="flex flex-wrap gap-1.5 px-3 pt-2">
      {images.map((image) => (
        <li
          key={image.data.slice(0, 64) + image.name}
          className="flex items-center gap-1.5 rounded-md border border-line bg-raised p-1 text-xs"
        >
          <img
            src={`data:${image.mimeType};base64,${image.data}`}
            alt=""
            className="size-8 rounded object-cover"
          />
          <span className="max-w-32 truncate">{escapeInvisible(image.name)}</span>
          <Remove
            label={`Remove ${escapeInvisible(image.name)}`}
            onClick={() => drafts.change(draft, { images: images.filter((one) => one !== image) })}
          />
        </li>
      ))}
      {comments.map((comment) => (
        <li
          key={`${comment.path} ${comment.place} ${comment.text}`}
          className="flex max-w-full items-center gap-1.5 rounded-md border border-line bg-accent-wash px-1.5 py-0.5 text-xs"
        >
          <code className="shrink-0">
            {escapeInvisible(path(comment.path).split('/').at(-1) ?? '')}:{comment.place}
          </code>
          <span className="max-w-60 truncate">{escapeInvisible(comment.text)}</span>
          <Remove label="Remove the comment" onClick={() => drafts.withdraw(draft, comment)} />
        </li>
      ))}
    </ul>
  )
}

function Remove({ label, onClick }: { label: string; onClick(): void }) {
  return (
    <button type="button" aria-label={label} className="rounded text-soft hover:text-ink" onClick={onClick}>
      <Icon name="cross" className="size-3.5" />
    </button>
  )
}
