import type { SessionRecord } from 'mainstem/client'
import { type FormEvent, useState } from 'react'
import { client } from '../app/client.ts'
import { Store, useStore } from '../app/store.ts'
import { titleOf } from '../inbox/groups.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { takeFocus } from '../ui/take-focus.ts'

/** The session whose name is being edited. */
export const renaming = new Store<string | undefined>(undefined)

/** The title of a session. Pressing it edits the name, which replaces the title everywhere. */
export function SessionTitle({ record }: { record: SessionRecord }) {
  const isEdited = useStore(renaming) === record.id
  const title = titleOf(record)
  if (isEdited && record.status !== 'ended') return <NameForm record={record} />
  return (
    <h1 className="min-w-0 flex-1 truncate text-base font-semibold" title={title}>
      {record.status === 'ended' ? (
        title
      ) : (
        <button
          type="button"
          className="max-w-full truncate rounded text-left hover:bg-raised"
          onClick={() => renaming.set(record.id)}
        >
          {title}
        </button>
      )}
    </h1>
  )
}

function NameForm({ record: { id, name = '' } }: { record: SessionRecord }) {
  const [text, setText] = useState(name)
  const { busy, error, run } = useAction()
  const close = () => renaming.set(undefined)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    run(() => client.rename(id, text === '' ? null : text).then(close))
  }
  return (
    <form className="flex min-w-0 flex-1 flex-wrap items-center gap-2" onSubmit={submit}>
      <input
        ref={takeFocus}
        className="min-w-0 flex-1"
        aria-label="Name of the session"
        placeholder="a name without spaces; empty removes it"
        maxLength={64}
        value={text}
        // A name needs no quotes in a shell.
        onChange={(event) => setText(event.target.value.replaceAll(/\s+/g, '-'))}
        onKeyDown={({ key }) => key === 'Escape' && close()}
      />
      <Button type="submit" disabled={busy}>
        Rename
      </Button>
      <Button onClick={close}>Cancel</Button>
      {error !== undefined && (
        <p role="alert" className="w-full text-xs text-bad">
          {error}
        </p>
      )}
    </form>
  )
}
