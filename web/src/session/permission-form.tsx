import { offeredScopes } from 'mainstem/client'
import { lazy, type ReactNode, Suspense, useId, useState } from 'react'
import { useRelativePaths } from '../text/workspace.ts'
import { Button } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.ts'
import { takeFocus } from '../ui/take-focus.ts'
import type { AnsweredBy } from './answer-gate.ts'
import { InputView } from './input-view.tsx'
import { RawRequest } from './raw-request.tsx'
import { ReadBox, UnreadHint } from './read-box.tsx'
import type { RequestFormProps } from './request-card.tsx'
import { clickedBy } from './use-answer-gate.ts'

/** It needs Markdown, which is loaded later than the first screen. */
const PlanText = lazy(() => import('./plan-text.tsx'))

type AllowScope = ReturnType<typeof offeredScopes>[number]

/** Allow once, for the session, always; deny with a reason. The keys never change, and "always" has none. */
export function PermissionForm({ request, busy, gate, raw, onAnswer }: RequestFormProps) {
  const [denying, setDenying] = useState(false)
  const scopes = offeredScopes(request)
  const words = request.kind === 'plan' ? PLAN_WORDS : WORDS
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
        {raw ? <RawRequest request={request} /> : <RequestInput request={request} />}
      </ReadBox>
      <div className="border-t border-line px-3 pt-2 pb-3">
        {denying ? (
          <DenyForm
            words={words}
            busy={busy}
            onCancel={() => setDenying(false)}
            onDeny={(message) => onAnswer({ decision: 'deny', ...(message !== '' && { message }) })}
          />
        ) : (
          <Buttons
            ready={gate.readiness === 'ready' && !busy}
            hints={gate.selected}
            scopes={scopes}
            words={words}
            hint={<UnreadHint gate={gate} act={words.act} />}
            onAllow={allow}
            onDeny={() => setDenying(true)}
          />
        )}
      </div>
    </>
  )
}

interface Words extends Record<AllowScope, string> {
  deny: string
  /** What a person does who allows it. */
  act: string
  /** What the reason of a denial is for. */
  reason: string
}

const WORDS: Words = {
  once: 'Allow once',
  session: 'Allow for session',
  always: 'Always allow',
  deny: 'Deny',
  act: 'allow this',
  reason: 'Reason for the agent (optional)',
}

const PLAN_WORDS: Words = {
  once: 'Approve',
  session: 'Approve for session',
  always: 'Always approve',
  deny: 'Keep planning',
  act: 'approve',
  reason: 'What should the plan change? (optional)',
}

/** "Always" has no key. */
const KEYS: Readonly<Partial<Record<AllowScope, string>>> = { once: 'a', session: 's' }

/** A plan is rendered; everything else is shown by its fields. */
function RequestInput({ request }: { request: RequestFormProps['request'] }) {
  const { kind, input } = request
  const { cwd } = useRelativePaths()
  const plan = kind === 'plan' && isFields(input) && typeof input.plan === 'string' ? input.plan : undefined
  if (plan === undefined) return <InputView request={request} cwd={cwd} />
  return (
    <>
      <InputView request={request} without={['plan']} />
      {/* Until it is rendered, its end has not been on screen. */}
      <Suspense fallback={<p data-rest>Loading…</p>}>
        <PlanText text={plan} />
      </Suspense>
    </>
  )
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface ButtonsProps {
  ready: boolean
  /** Whether the buttons show their keys. */
  hints: boolean
  scopes: readonly AllowScope[]
  words: Words
  hint: ReactNode
  onAllow(scope: AllowScope, by: AnsweredBy): void
  onDeny(): void
}

function Buttons({ ready, hints, scopes, words, hint, onAllow, onDeny }: ButtonsProps) {
  return (
    <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      {scopes.map((scope) => (
        <Button
          key={scope}
          look={scope === 'once' ? 'main' : 'plain'}
          shortcut={hints ? KEYS[scope] : undefined}
          aria-disabled={!ready}
          onClick={(event) => onAllow(scope, clickedBy(event))}
        >
          {words[scope]}
        </Button>
      ))}
      <Button
        look="danger"
        shortcut={hints ? 'd' : undefined}
        className="max-sm:odd:col-span-2"
        onClick={onDeny}
      >
        {words.deny}…
      </Button>
      <div className="self-center max-sm:col-span-2 max-sm:empty:hidden">{hint}</div>
    </div>
  )
}

interface DenyFormProps {
  words: Words
  busy: boolean
  onCancel(): void
  onDeny(message: string): void
}

function DenyForm({ words, busy, onCancel, onDeny }: DenyFormProps) {
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
        {words.reason}
      </label>
      <input
        id={id}
        ref={takeFocus}
        className="min-w-40 flex-1"
        value={message}
        onChange={(event) => setMessage(event.target.value)}
      />
      <Button type="submit" look="danger" disabled={busy}>
        {words.deny}
      </Button>
      <Button look="quiet" onClick={onCancel}>
        Back
      </Button>
    </form>
  )
}
