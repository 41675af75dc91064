import { useState } from 'react'
import { sentence } from '../text/format.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { checkSignIn, codeOf, enter, messageOf, signInWith } from './client.ts'

/** The screen without a sign-in: how to sign in, and why an earlier sign-in ended. */
export function SignInScreen({ reason }: { reason: string | undefined }) {
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  const submit = (data: FormData) => {
    setBusy(true)
    signInWith(String(data.get('token') ?? '').trim())
      .catch((thrown: unknown) =>
        setError(
          codeOf(thrown) === 'unauthorized' ? 'The server does not know this token.' : messageOf(thrown),
        ),
      )
      .finally(() => setBusy(false))
  }
  return (
    <main className="flex h-full items-center justify-center overflow-y-auto p-4">
      <div className="w-full max-w-md space-y-4 rounded-xl border border-line bg-panel p-6">
        <h1 className="text-xl font-semibold">Mainstem</h1>
        {reason !== undefined && <Notice level="warning">{sentence(reason)}</Notice>}
        <div>
          <p>Sign in from a terminal on this machine:</p>
          <pre className="mt-1 rounded bg-raised px-3 py-2">mainstem open</pre>
          <p className="mt-1 text-sm text-soft">
            It opens a link with a ticket that works once, for 30 seconds. Your browser then holds a cookie
            that no script can read.
          </p>
        </div>
        <form
          className="space-y-2 border-t border-line pt-4"
          onSubmit={(event) => {
            event.preventDefault()
            submit(new FormData(event.currentTarget))
          }}
        >
          <label htmlFor="token">Or enter a token</label>
          <input
            id="token"
            name="token"
            type="password"
            required
            autoComplete="off"
            className="w-full font-mono"
          />
          <p className="text-sm text-soft">
            <code>mainstem serve</code> prints the file that holds yours; <code>mainstem token add</code>{' '}
            makes more.
          </p>
          <Button type="submit" look="main" disabled={busy}>
            Sign in
          </Button>
          {error !== undefined && <Notice level="error">{error}</Notice>}
        </form>
      </div>
    </main>
  )
}

export function UnreachableScreen({ reason, onRetry }: { reason: string; onRetry(): void }) {
  return (
    <main className="flex h-full items-center justify-center p-4">
      <div className="max-w-md space-y-3">
        <Notice level="error">The server does not answer. {reason}</Notice>
        <Button onClick={onRetry}>Try again</Button>
      </div>
    </main>
  )
}

/** Asks before a link replaces the sign-in: whoever sent it would see what is done with it. */
export function OtherPrincipalScreen({ reason, ticket }: { reason: string; ticket: string }) {
  return (
    <main className="flex h-full items-center justify-center p-4">
      <div className="max-w-md space-y-3">
        <Notice level="warning">{sentence(reason)}</Notice>
        <div className="flex flex-wrap gap-2">
          <Button look="main" onClick={() => void checkSignIn()}>
            Stay signed in
          </Button>
          <Button onClick={() => void enter(ticket, true)}>Use the link</Button>
        </div>
      </div>
    </main>
  )
}
