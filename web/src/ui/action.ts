import { useState } from 'react'
import { leftOut, messageOf } from '../app/client.ts'

export interface Action {
  busy: boolean
  error: string | undefined
  run(work: () => Promise<unknown>): void
}

/** One call to the server at a time, with its failure as text. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const run = (work: () => Promise<unknown>) => {
    if (busy) return
    setBusy(true)
    setError(undefined)
    work()
      .catch((thrown: unknown) => {
        if (!leftOut(thrown)) setError(messageOf(thrown))
      })
      .finally(() => setBusy(false))
  }
  return { busy, error, run }
}
