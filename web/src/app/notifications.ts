import type { SessionRecord } from 'mainstem/client'
import { titleOf, waits } from '../inbox/groups.ts'
import { inbox } from '../inbox/inbox-store.ts'
import { go } from './navigation.ts'
import { Store } from './store.ts'

export type Permission = 'unsupported' | 'default' | 'granted' | 'denied'

export const permission = new Store<Permission>(current())

function current(): Permission {
  return 'Notification' in globalThis ? Notification.permission : 'unsupported'
}

/** Only from a button: browsers refuse to ask otherwise. */
export async function askToNotify(): Promise<void> {
  if ('Notification' in globalThis) permission.set(await Notification.requestPermission())
}

/** Opens what a notification of the server names, if it was pressed while the page is open. */
export function openNotified(): (() => void) | undefined {
  if (!('serviceWorker' in navigator)) return undefined
  const { serviceWorker } = navigator
  const open = ({ data }: MessageEvent<{ hash?: string }>) => {
    if (typeof data.hash === 'string' && data.hash.startsWith('#/')) location.hash = data.hash
  }
  serviceWorker.addEventListener('message', open)
  // Messages wait for this if nothing was assigned to `onmessage`.
  serviceWorker.startMessages()
  return () => serviceWorker.removeEventListener('message', open)
}

type Standing = 'asking' | 'running' | 'done'

const standingOf = (record: SessionRecord): Standing =>
  waits(record) ? 'asking' : record.status === 'busy' ? 'running' : 'done'

/** Announces sessions that begin to wait for a person, and running ones that end, while the page is in the background. */
export function notifyOfChanges(): () => void {
  let known: ReadonlyMap<string, Standing> | undefined
  return inbox.subscribe(() => {
    const { records, loaded } = inbox.get()
    if (!loaded) return
    const now = new Map([...records].map(([id, record]) => [id, standingOf(record)]))
    for (const [id, standing] of now) {
      const before = known?.get(id)
      const record = records.get(id)
      if (record && before !== undefined && before !== standing && standing !== 'running')
        announce(record, standing)
    }
    known = now
  })
}

function announce(record: SessionRecord, standing: Standing): void {
  if (permission.get() !== 'granted' || document.visibilityState === 'visible') return
  const body = standing === 'asking' ? 'needs you' : (record.lastOutcome ?? 'done')
  const notification = new Notification(titleOf(record), { body: `${record.agent}: ${body}`, tag: record.id })
  notification.onclick = () => {
    window.focus()
    go({ screen: 'session', id: record.id, tab: 'conversation', seq: undefined })
  }
}
