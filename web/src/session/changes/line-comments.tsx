import { escapeInvisible } from 'mainstem/client'
import { useState } from 'react'
import type { DiffLine } from '../../text/diff.ts'
import { Button } from '../../ui/button.tsx'
import { drafts, type LineComment } from '../compose/drafts.ts'

/** The identity of a line in a file: its side and its number. */
export const placeOfLine = ({ kind, before, after }: DiffLine): string =>
  kind === 'removed' ? `-${before}` : `${after ?? before}`

interface CommentFormProps {
  session: string
  path: string
  line: DiffLine
  onDone(): void
}

/** Writes a comment on a line. It goes to the agent with the next prompt. */
export function CommentForm({ session, path, line, onDone }: CommentFormProps) {
  const [text, setText] = useState('')
  const save = () => {
    if (text.trim() === '') return
    drafts.comment(session, { path, place: placeOfLine(line), line: line.text, text: text.trim() })
    onDone()
  }
  return (
    <form
      className="space-y-1.5 border-y border-line bg-panel p-2 font-sans"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <textarea
        ref={(field) => field?.focus()}
        rows={2}
        className="w-full text-sm"
        aria-label={
          line.kind === 'removed' ? `Comment on removed line ${line.before}` : `Comment on line ${line.after}`
        }
        placeholder="What should change here? It goes to the agent with your next prompt."
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone()
          // As in the prompt: Shift Enter starts a line, and Enter that ends a composed word only does that.
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          save()
        }}
      />
      <div className="flex gap-2">
        <Button type="submit" look="main" size="small" disabled={text.trim() === ''}>
          Add comment
        </Button>
        <Button look="quiet" size="small" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

interface CommentsProps {
  session: string
  comments: readonly LineComment[]
}

/** The comments on a line that wait for the next prompt. */
export function Comments({ session, comments }: CommentsProps) {
  return comments.map((comment) => (
    <div
      key={comment.text}
      className="flex items-start gap-2 border-y border-line bg-accent-wash px-2 py-1 font-sans text-sm"
    >
      <p className="min-w-0 flex-1 whitespace-pre-wrap">{escapeInvisible(comment.text)}</p>
      <span className="shrink-0 text-xs leading-5 text-soft">with your next prompt</span>
      <Button look="quiet" size="small" onClick={() => drafts.withdraw(session, comment)}>
        Remove
      </Button>
    </div>
  ))
}
