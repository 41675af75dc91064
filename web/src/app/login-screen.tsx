import { escapeInvisible, loginCode } from 'mainstem/client'
import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { client, messageOf } from './client.ts'
import type { LoginLink } from './navigation.ts'

type Answer = { allowed: true } | { allowed: false } | { error: string }

/** Asks whether a command line may act for the person who is signed in. */
export function LoginScreen({ link, principal }: { link: LoginLink; principal: string }) {
  const [answer, setAnswer] = useState<Answer>()
  const [busy, setBusy] = useState(false)
  const allow = () => {
    setBusy(true)
    client
      .addLogin(link)
      .then(() => setAnswer({ allowed: true }))
      .catch((thrown: unknown) => setAnswer({ error: messageOf(thrown) }))
      .finally(() => setBusy(false))
  }
  return (
    <main className="flex h-full items-center justify-center overflow-y-auto p-4">
      <div className="w-full max-w-md space-y-4 rounded-xl border border-line bg-panel p-6">
        <h1 className="text-xl font-semibold">Log in a command line</h1>
        {answer === undefined ? (
          <>
            <p>
              A terminal that calls itself <strong className="break-all">{escapeInvisible(link.name)}</strong>{' '}
              asks to act as <strong>{principal}</strong>: it will see your sessions, run agents and answer
              requests.
            </p>
            <p>Your terminal must show this code:</p>
            <p className="rounded bg-raised px-3 py-2 text-center font-mono text-xl font-semibold tracking-widest">
              {loginCode(link.digest)}
            </p>
            <Notice level="warning">
              Allow it only if you started “mainstem login” yourself, just now. Nobody else may send you this
              link.
            </Notice>
            <div className="flex flex-wrap gap-2">
              <Button onClick={() => setAnswer({ allowed: false })}>Refuse</Button>
              <Button look="main" disabled={busy} onClick={allow}>
                The codes are equal: allow
              </Button>
            </div>
          </>
        ) : (
          <Outcome answer={answer} />
        )}
      </div>
    </main>
  )
}

function Outcome({ answer }: { answer: Answer }) {
  if ('error' in answer) return <Notice level="error">{answer.error}</Notice>
  return (
    <p role="status">
      {answer.allowed ? 'Logged in. You can return to your terminal.' : 'Refused. Nothing was changed.'}{' '}
      <a href="./">Open the page</a>
    </p>
  )
}
