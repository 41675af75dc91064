import type { SessionRecord } from 'mainstem/client'
import { useFirstPrompt } from './first-prompt.ts'
import { titleOf } from './groups.ts'

/** The name of a session, or the title that its agent gave it, or its first prompt. */
export function useTitle(record: SessionRecord): string {
  return titleOf(
    record,
    useFirstPrompt(record.id, (record.name ?? record.title) === undefined && record.turns > 0),
  )
}

export function SessionTitle({ record }: { record: SessionRecord }) {
  return <>{useTitle(record)}</>
}
