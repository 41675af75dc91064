import { offeredScopes } from 'mainstem/client'
import { type ReactNode, useId, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.ts'
import { takeFocus } from '../ui/take-focus.ts'
import type { AnsweredBy } from './answer-gate.ts'
import { InputView } from './input-view.tsx'
import { ReadBox, UnreadHint } from './read-box.tsx'
import type { RequestFormProps } from './request-card.tsx'
import { clickedBy } from './use-answer-gate.ts'

type AllowScope = ReturnType<typeof offeredScopes>[number]

/** Allow once, for the session, always; deny with a reason. The keys never change, and "always" has none. */
export function PermissionForm({ request, busy, gate, onAnswer }: RequestFormProps) {
  const [denying, setDenying] = useState(false)
  const scopes = offeredScopes(request)
  const allow = (scope: AllowScope, by: AnsweredBy) => {
    if (!busy && gate.mayAllow(by)) onAnswer({ decision: 'allow', scope })
  }
  useKeys({
    ...(scopes.includes('once') && { a: () => allow('once', 'shortcut') }),
    ...(scopes.includes('session') && { s: () => allow('session', 'shortcut') }),
    d: () => gate.mayUseKey() && setDenying(true),
  })
  return (
    <>
      <ReadBox gate={gate}>
        <InputView {...request} />
      </ReadBox>
      <div className="border-t border-line px-3 pt-2 pb-3">
        {denying ? (
          <DenyForm
            busy={busy}
            onCancel={() => setDenying(false)}
            onDeny={(message) => onAnswer({ decision: 'deny', ...(message !== '' && { message }) })}
          />
        ) : (
          <Buttons
            ready={gate.readiness === 'ready' && !busy}
            hints={gate.selected}
            scopes={scopes}
            hint={<UnreadHint gate={gate} />}
            onAllow={allow}
            onDeny={() => setDenying(true)}
          />
        )}
      </div>
    </>
  )
}

const LABELS: Record<AllowScope, { label: string; shortcut?: string }> = {
  once: { label: 'Allow once', shortcut: 'a' },
  session: { label: 'Allow for session', shortcut: 's' },
  always: { label: 'Always allow' },
}

interface ButtonsProps {
  ready: boolean
  /** Whether the buttons show their keys. */
  hints: boolean
  scopes: readonly AllowScope[]
  hint: ReactNode
  onAllow(scope: AllowScope, by: AnsweredBy): void
  onDeny(): void
}

function Buttons({ ready, hints, scopes, hint, onAllow, onDeny }: ButtonsProps) {
  return (
    <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      {scopes.map((scope) => (
        <Button
          key={scope}
          look={scope === 'once' ? 'main' : 'plain'}
          shortcut={hints ? LABELS[scope].shortcut : undefined}
          aria-disabled={!ready}
          onClick={(event) => onAllow(scope, clickedBy(event))}
        >
          {LABELS[scope].label}
        </Button>
      ))}
      <Button
        look="danger"
        shortcut={hints ? 'd' : undefined}
        className="max-sm:odd:col-span-2"
        onClick={onDeny}
      >
        Deny…
      </Button>
      <div className="self-center max-sm:col-span-2 max-sm:empty:hidden">{hint}</div>
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
