import type { SessionRecord } from 'mainstem/client'
import { useFirstPrompt } from './first-prompt.ts'
import { titleOf } from './groups.ts'

/** The title of a session; where the agent gave none, its first prompt. */
export function useTitle(record: SessionRecord): string {
  return titleOf(record, useFirstPrompt(record.id, record.title === undefined && record.turns > 0))
}

export function SessionTitle({ record }: { record: SessionRecord }) {
  return <>{useTitle(record)}</>
}
