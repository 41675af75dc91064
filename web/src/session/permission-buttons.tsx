import type { RequestAnswer } from 'mainstem/client'
import { useId, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.ts'
import { takeFocus } from '../ui/take-focus.ts'
import type { RequestOpened } from './fold/items.ts'

interface PermissionButtonsProps {
  options: RequestOpened['options']
  busy: boolean
  keys: boolean
  onAnswer(answer: Omit<RequestAnswer, 'inputDigest'>): void
}

/** Allow once, for the session, always; deny with a reason. The keys never change, and "always" has none. */
export function PermissionButtons({ options, busy, keys, onAnswer }: PermissionButtonsProps) {
  const [denying, setDenying] = useState(false)
  const offers = (scope: string) =>
    options.some((option) => option.effect === 'allow' && option.scope === scope)
  const allow = (scope: 'once' | 'session' | 'always') => onAnswer({ decision: 'allow', scope })
  useKeys(
    keys && !busy
      ? {
          a: () => allow('once'),
          ...(offers('session') && { s: () => allow('session') }),
          d: () => setDenying(true),
        }
      : {},
  )
  if (denying) {
    return (
      <DenyForm
        busy={busy}
        onCancel={() => setDenying(false)}
        onDeny={(message) => onAnswer({ decision: 'deny', ...(message !== '' && { message }) })}
      />
    )
  }
  return (
    <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      <Button look="main" shortcut="a" disabled={busy} onClick={() => allow('once')}>
        Allow once
      </Button>
      {offers('session') && (
        <Button shortcut="s" disabled={busy} onClick={() => allow('session')}>
          Allow for session
        </Button>
      )}
      {offers('always') && (
        <Button disabled={busy} onClick={() => allow('always')}>
          Always allow
        </Button>
      )}
      <Button
        look="danger"
        shortcut="d"
        className="max-sm:odd:col-span-2"
        disabled={busy}
        onClick={() => setDenying(true)}
      >
        Deny…
      </Button>
    </div>
  )
}

interface DenyFormProps {
  busy: boolean
  onCancel(): void
  onDeny(message: string): void
}

function DenyForm({ busy, onCancel, onDeny }: DenyFormProps) {
  const id = useId()
  const [message, setMessage] = useState('')
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        onDeny(message.trim())
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel()
      }}
    >
      <label htmlFor={id} className="w-full text-xs text-soft">
        Reason for the agent (optional)
      </label>
      <input
        id={id}
        ref={takeFocus}
        className="min-w-40 flex-1"
        value={message}
        onChange={(event) => setMessage(event.target.value)}
      />
      <Button type="submit" look="danger" disabled={busy}>
        Deny
      </Button>
      <Button look="quiet" onClick={onCancel}>
        Back
      </Button>
    </form>
  )
}
