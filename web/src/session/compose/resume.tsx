import type { SessionFacts, SessionRecord } from 'mainstem/client'
import { client } from '../../app/client.ts'
import { go } from '../../app/navigation.ts'
import { useAction } from '../../ui/action.ts'
import { Button } from '../../ui/button.tsx'

interface ResumeProps {
  record: SessionRecord
  facts: SessionFacts
}

/** A session that ended can continue in a new one, if its agent keeps conversations. */
export function Resume({ record, facts }: ResumeProps) {
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
