import type { SessionFacts, SessionRecord } from 'mainstem/client'
import { useState } from 'react'
import { client } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.ts'

interface ComposerProps {
  record: SessionRecord
  facts: SessionFacts
}

/** The field for the next prompt, which starts a turn, queues one, or steers the running turn. */
export function Composer({ record, facts }: ComposerProps) {
  const { id, status } = record
  const { busy, error, run } = useAction()
  const [text, setText] = useState('')
  useKeys({ i: () => document.getElementById('prompt')?.focus() })
  const prompt = text.trim()
  const send = (work: () => Promise<unknown>) =>
    run(async () => {
      await work()
      setText('')
    })
  const running = status === 'busy'
  const steers = facts.capabilities !== undefined && facts.capabilities.steer !== 'none'
  if (status === 'ended') return <Resume record={record} facts={facts} />
  return (
    <form
      className="mx-auto w-full max-w-4xl max-sm:mb-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (prompt !== '') send(() => client.prompt(id, prompt))
      }}
    >
      <Queue record={record} />
      <div className="flex items-end gap-2">
        <textarea
          id="prompt"
          rows={Math.min(8, text.split('\n').length + (text === '' ? 0 : 1))}
          className="min-w-0 flex-1 resize-none sm:min-h-13.5"
          aria-label="Prompt"
          placeholder={running ? 'Queue a prompt' : 'Write a prompt'}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            event.currentTarget.form?.requestSubmit()
          }}
        />
        <div className="flex gap-1">
          {running && (
            <Button look="danger" onClick={() => run(() => client.interrupt(id))}>
              Stop
            </Button>
          )}
          {running && steers && (
            <Button disabled={busy || prompt === ''} onClick={() => send(() => client.steer(id, prompt))}>
              Steer
            </Button>
          )}
          <Button type="submit" look="main" disabled={busy || prompt === ''}>
            {running ? 'Queue' : 'Send'}
          </Button>
        </div>
      </div>
      {error !== undefined && (
        <p role="alert" className="mt-1 text-sm text-bad">
          {error}
        </p>
      )}
    </form>
  )
}

function Queue({ record: { queue } }: { record: SessionRecord }) {
  if (queue.length === 0) return null
  return (
    <ol aria-label="Queue" className="mb-2 space-y-0.5 text-xs text-soft">
      {queue.map(({ turn, prompt }, index) => (
        <li key={turn} className="flex gap-2">
          <span className="tabular-nums">{index + 1}.</span>
          <span className="min-w-0 truncate text-ink">{prompt}</span>
        </li>
      ))}
    </ol>
  )
}

/** A session that ended can continue in a new one, if its agent keeps conversations. */
function Resume({ record, facts }: ComposerProps) {
  const { agent, cwd, launch, policy, options, nativeSessionId } = record
  const { busy, error, run } = useAction()
  if (nativeSessionId === undefined || facts.capabilities?.resume === false)
    return <p className="text-center text-sm text-soft">This session has ended. Its log stays.</p>
  const resume = () =>
    run(async () => {
      const begun = await client.begin(
        { agent, cwd, launch, policy, options, resume: nativeSessionId },
        crypto.randomUUID(),
      )
      go({ screen: 'session', id: begun.id, tab: 'conversation', seq: undefined })
    })
  return (
    <div className="flex flex-wrap items-center justify-center gap-3 text-sm text-soft">
      This session has ended.
      <Button disabled={busy} onClick={resume}>
        Resume in a new session
      </Button>
      {error !== undefined && <span className="text-bad">{error}</span>}
    </div>
  )
}
