import type { SessionRecord } from 'mainstem/client'
import { client, leftOut, messageOf } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { prefer, preferences } from '../app/preferences.ts'
import { sessionHref } from '../app/route.ts'
import { copyText } from '../ui/copy-text.ts'
import { doLater, say } from '../ui/toasts.tsx'
import { inbox } from './inbox-store.ts'

/** Puts a session at the top of the list of this browser, or back. */
export function togglePinned(id: string): void {
  const { pinned } = preferences.get()
  prefer({ pinned: pinned.includes(id) ? pinned.filter((one) => one !== id) : [id, ...pinned] })
}

/** Takes a session out of the list of this browser, or puts it back. Its log stays. */
export function toggleArchived(id: string): void {
  const { archived } = preferences.get()
  const isArchived = archived.includes(id)
  prefer({ archived: isArchived ? archived.filter((one) => one !== id) : [id, ...archived] })
  if (!isArchived) say('Archived in this browser.', () => toggleArchived(id))
}

/** Deletes a session after the time to undo it. Closing the page in that time keeps the session. */
export function removeSession({ id }: SessionRecord): void {
  inbox.hide(id, true)
  if (location.hash.startsWith(sessionHref(id))) go({ screen: 'inbox' })
  doLater(
    'Session deleted.',
    () => {
      client
        .delete(id)
        .then(() => inbox.refresh(id))
        .catch(
          (thrown: unknown) => leftOut(thrown) || say(`The session was not deleted: ${messageOf(thrown)}`),
        )
        .finally(() => inbox.hide(id, false))
    },
    () => inbox.hide(id, false),
  )
}

export async function copyLink(id: string): Promise<void> {
  await copyText(new URL(sessionHref(id), location.href).href)
  say('Link copied.')
}

/** Downloads everything of a session, one JSON object a line. */
export async function exportSession(id: string): Promise<void> {
  try {
    const lines: string[] = []
    for await (const line of client.export(id)) lines.push(line, '\n')
    const href = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }))
    const link = Object.assign(document.createElement('a'), { href, download: `${id}.ndjson` })
    link.click()
    URL.revokeObjectURL(href)
  } catch (thrown) {
    if (!leftOut(thrown)) say(`The export failed: ${messageOf(thrown)}`)
  }
}
