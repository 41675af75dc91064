import { isForPerson, type SessionRecord } from 'mainstem/client'
import { showHidden } from '../text/hidden.ts'

export interface Groups {
  asking: readonly SessionRecord[]
  running: readonly SessionRecord[]
  done: readonly SessionRecord[]
}

/** Silence of a running turn that is worth showing. */
const SILENT_MS = 60_000

/** Characters of a title; a prompt can have any number. */
const LONGEST_TITLE = 200

export function waits({ requests }: SessionRecord): boolean {
  return requests.some(isForPerson)
}

/** Sessions with open requests first, then running ones, then the rest. Newest first, but the oldest request first. */
export function groupsOf(records: Iterable<SessionRecord>): Groups {
  const asking: SessionRecord[] = []
  const running: SessionRecord[] = []
  const done: SessionRecord[] = []
  for (const record of records)
    (waits(record) ? asking : record.status === 'busy' ? running : done).push(record)
  asking.sort((a, b) => a.updatedAt - b.updatedAt)
  running.sort((a, b) => b.createdAt - a.createdAt)
  done.sort((a, b) => b.updatedAt - a.updatedAt)
  return { asking, running, done }
}

/** The time since the last output of a running turn, if it is unusually long. */
export function silenceOf(
  { status, silentSince, updatedAt }: SessionRecord,
  now: number,
): number | undefined {
  if (status !== 'busy') return undefined
  const silent = now - (silentSince ?? updatedAt)
  return silent >= SILENT_MS ? silent : undefined
}

export function titleOf({ name, title, agent }: SessionRecord): string {
  const line = (name ?? title ?? `${agent} session`).slice(0, LONGEST_TITLE).split('\n', 1)[0]
  return showHidden(line ?? '')
}

/** Whether every word is found in what a list shows of a session. */
export function matches(
  { name = '', title = '', agent, cwd, id, model = '' }: SessionRecord,
  words: string,
): boolean {
  const text = `${name} ${title} ${agent} ${cwd} ${id} ${model}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
