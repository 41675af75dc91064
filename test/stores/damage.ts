import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type BlobRef, type Entry, toMainstemError } from '../../src/model/index.ts'
import type { StoredWebhook } from '../../src/model/webhook.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { blobBytes } from './blob-bytes.ts'
import { factOf } from './contract-access.ts'
import { callOf, webhookOf } from './contract-calls.ts'
import { entries, frames, newDirectory, sessionId, state } from './sqlite-parts.ts'

const IMAGE = { mimeType: 'image/png', data: 'AAAA' }

export const SESSIONS = [sessionId(1), sessionId(2)] as const

/** Stores everything that can be stored. Returns the blob of each session. */
export async function fill(store: Store): Promise<Map<string, BlobRef>> {
  const blobs = new Map<string, BlobRef>()
  for (const id of SESSIONS) {
    const writer = store.blobs.open()
    writer.write(Buffer.from(`the blob of ${id}`))
    const blob = await writer.close()
    blobs.set(id, blob)
    const coverage = { frames: 9, mapped: 5, unmapped: 1, malformed: 2, oversized: 1 }
    const named: Entry = {
      seq: 1,
      session: id,
      at: 1,
      event: { type: 'native.unmapped', nativeType: 'x', blob },
    }
    const receipt = { scope: 's', key: id, fingerprint: 'f', session: id, answer: { turn: 1 } }
    const batch = { entries: [named], record: state(id, { title: `title of ${id}`, nativeSessionId: id }) }
    await store.create(id, batch, receipt, { owner: 'a', ttlMs: 1 })
    for (const first of [2, 5, 8]) {
      const more = {
        entries: entries(id, first, first + 2),
        journal: frames(id, first, first + 2),
        frameCounts: { frames: first + 2, coverage },
        queued: [
          { turn: first, prompt: `prompt ${first} of ${id}`, ...(first === 5 && { images: [IMAGE] }) },
        ],
        charges: [
          { principal: 'local', agent: 'echo', at: 0, sessions: 1, turns: first, usage: { input: 7 } },
        ],
      }
      await store.append(id, more, 1)
    }
  }
  const { access } = store
  const fact = factOf('token.added', { session: SESSIONS[0], details: { name: 'ci' } })
  await access.change({ type: 'token.added', name: 'ci', digest: 'd', roles: ['operator'] }, fact)
  const removed = { type: 'token.added', name: 'old', digest: 'd', roles: [] } as const
  await access.change(removed, factOf('token.added'))
  await access.change({ type: 'token.removed', name: 'old' }, factOf('token.removed'))
  await access.change({ type: 'grant.added', to: 'ci', of: 'local' }, factOf('grant.added'))
  return blobs
}

/** Adds what databases of earlier versions do not have. */
export async function addNewer(store: Store): Promise<void> {
  const { access } = store
  const more = { principal: 'ci', name: 'ci', sessions: [...SESSIONS], secrets: [{ secret: 's' }] }
  await access.change(webhookOf('w', more), factOf('webhook.added'))
  const [session] = SESSIONS
  const seq = (await store.head(session)) + 1
  const calls = [callOf(session, seq, { principal: 'local' })]
  await store.append(session, { entries: entries(session, seq, seq), calls }, 1)
  const [taken] = await store.calls.take('w', { now: 1, until: 2, limit: 1 })
  if (taken) await store.calls.settle(taken, { status: 'pending', at: 3, due: 4, note: 'HTTP 500' })
  const disabled = {
    type: 'webhook.changed',
    id: 'w',
    to: (one: StoredWebhook) => ({ ...one, disabled: 5 }),
  } as const
  await access.change(disabled, factOf('webhook.changed'))
  const login = { type: 'login.added', principal: 'ci', login: 'laptop', allowedBy: 'd' } as const
  await access.change({ ...login, digest: 'e', roles: ['operator'] }, factOf('token.added'))
}

/** A store with everything that can be stored, closed again. */
export async function filledStore(): Promise<{ directory: string; blobs: Map<string, BlobRef> }> {
  const directory = newDirectory()
  await using store = await sqliteStore({ directory, durability: 'process' })
  const blobs = await fill(store)
  await addNewer(store)
  return { directory, blobs }
}

/** A copy of the store, after `change`. */
export function changedCopy(directory: string, change: (copy: string) => void): string {
  const copy = newDirectory()
  rmSync(copy, { recursive: true })
  cpSync(directory, copy, { recursive: true })
  change(copy)
  return copy
}

/** How each part of a session is served: its JSON, or the code of the refusal. */
export type View = Record<string, string>

export async function viewOf(store: Store, id: string, blob: BlobRef | undefined): Promise<View> {
  const parts = {
    record: async () => store.record(id),
    listed: async () => (await store.records({ limit: 9 })).find((record) => record.id === id),
    entries: () => all((after) => store.read(id, after, 4)),
    texts: () => all((after) => store.readTexts(id, after)),
    middle: () => store.read(id, 6, 2),
    head: () => store.head(id),
    journal: () => store.readJournal(id, 0, 100),
    prompt: () => store.queuedPrompt(id, 2),
    image: () => store.queuedPrompt(id, 5),
    receipt: () => store.receipt('s', id),
    blob: async () => Buffer.from(await blobBytes(store.readBlob(blob ?? { id: '', bytes: 0 }))).toString(),
  }
  const view: View = {}
  for (const [name, read] of Object.entries(parts)) {
    view[name] = await read().then(
      (value) => JSON.stringify(value) ?? 'absent',
      (thrown) => toMainstemError(thrown).code,
    )
  }
  return view
}

async function all<T>(read: (after: number) => Promise<readonly T[]>): Promise<T[]> {
  const found: T[] = []
  for (;;) {
    const page = await read(found.length)
    if (page.length === 0) return found
    found.push(...page)
  }
}

export const blobFilesIn = (directory: string) =>
  readdirSync(join(directory, 'blobs')).map((name) => join(directory, 'blobs', name))
