import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { RequestOpened } from '../../src/model/events/request.ts'
import type { BlobRef, Entry } from '../../src/model/index.ts'
import type { Receipt, Store } from '../../src/stores/store.ts'
import { blobBytes } from './blob-bytes.ts'
import { entries, entry, frames, sessionId, state } from './sqlite-parts.ts'

const SESSIONS = 4
const PRINCIPALS = ['ann', 'b"\\\u2028ob']
const NATIVES = ['native "1"', 'native 2']
const REQUEST: RequestOpened = {
  type: 'request.opened',
  requestId: 'r',
  kind: 'permission',
  blocking: true,
  inputDigest: 'd',
  options: [],
}

const SAID = { type: 'text.completed', messageId: 'm', text: 'a word to find' } as const

/** One thing that a server does with a session. */
const step = fc.record({
  session: fc.nat(SESSIONS - 1),
  what: fc.constantFrom(
    'append',
    'append',
    'append',
    'queue',
    'dequeue',
    'blob',
    'acquire',
    'trim',
    'delete',
  ),
  size: fc.nat(9),
})

export const steps = fc.array(step, { minLength: 5, maxLength: 30 })
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never

const receiptOf = (session: string, key: number): Receipt => ({
  scope: 'POST /v1/sessions',
  key: `key ${key}`,
  fingerprint: 'f',
  session,
  answer: { id: session, key },
})

/** Fills a store step by step, as sessions with their leases do. */
export class Scene {
  readonly #store: Store
  readonly #fences = new Map<string, number>()
  readonly blobs: BlobRef[] = []
  #keys = 0
  #turns = 1

  constructor(store: Store) {
    this.#store = store
  }

  get keys(): number {
    return this.#keys
  }

  async play(all: readonly Step[]): Promise<void> {
    for (const one of all) await this.#take(one)
  }

  async #take({ session: index, what, size }: Step): Promise<void> {
    const id = sessionId(index)
    const head = await this.#store.head(id)
    if (head === 0) {
      this.#fences.delete(id)
      return this.#append(id, head, index, size)
    }
    const fence = this.#fences.get(id)
    switch (what) {
      case 'append':
        return this.#append(id, head, index, size)
      case 'queue':
        return this.#queue(id, size)
      case 'dequeue':
        return this.#store.append(id, { entries: [], dequeued: [this.#turns] }, fence)
      case 'blob':
        return this.#blob(id, head, size)
      case 'acquire':
        this.#fences.set(id, (await this.#store.acquire(id, 'server', 1_000)).fence)
        return
      case 'trim':
        return this.#store.trim(id, { seq: head - size, frame: head - size }, fence)
      case 'delete':
        return this.#store.delete(id, fence)
      default:
        return what satisfies never
    }
  }

  async #append(id: string, head: number, index: number, size: number): Promise<void> {
    const last = head + 1 + size
    const principal = PRINCIPALS[index % 2] ?? ''
    const record = state(id, {
      principal,
      name: `session-${index}`,
      status: size % 2 === 0 ? 'idle' : 'busy',
      requests: size % 3 === 0 ? [REQUEST] : [],
      ...(size > 5 && { nativeSessionId: NATIVES[size % 2] ?? '' }),
    })
    const usage = { input: size, costUsd: size / 10, ...(size % 2 === 0 && { partial: true as const }) }
    const charge = { principal, agent: 'echo', at: size * 86_400_000, sessions: 1, turns: size, usage }
    const coverage = { frames: last, mapped: last, unmapped: 0, malformed: 0, oversized: 0 }
    const batch = {
      entries: [...entries(id, head + 1, last - 1), { ...entry(id, last), event: SAID }],
      journal: frames(id, head + 1, last),
      record,
      frameCounts: { frames: last, coverage },
      charges: [size > 4 ? { ...charge, model: 'm' } : charge],
      receipts: [receiptOf(id, ++this.#keys)],
    }
    await this.#store.append(id, batch, this.#fences.get(id))
  }

  async #queue(id: string, size: number): Promise<void> {
    const turn = ++this.#turns
    const prompt = `prompt ${turn} \ud800 ${'x'.repeat(size * 400)}`
    const images = size % 4 === 0 ? [{ mimeType: 'image/png', data: 'AAAA' }] : undefined
    const queued = [{ turn, prompt, ...(images && { images }) }]
    await this.#store.append(id, { entries: [], queued }, this.#fences.get(id))
  }

  async #blob(id: string, head: number, size: number): Promise<void> {
    const writer = this.#store.blobs.open()
    writer.write(Buffer.alloc(size * 200_000, `${id} ${size}`))
    const blob = await writer.close()
    this.blobs.push(blob)
    const event = { type: 'native.unmapped', nativeType: 'x', blob } as const
    const next: Entry = { ...entry(id, head + 1), event }
    await this.#store.append(id, { entries: [next] }, this.#fences.get(id))
  }
}

/** Everything that a store tells its callers. */
export async function contentsOf(store: Store, { keys, blobs }: Pick<Scene, 'keys' | 'blobs'>) {
  const records = await store.records({ limit: 1_000 })
  const sessions = await Promise.all(
    records.map(async ({ id, earliest = 1, earliestFrame = 1, queue }) => ({
      texts: await textsOf(store, id, earliest),
      journal: await store.readJournal(id, earliestFrame - 1, 10_000, 1e9),
      prompts: await Promise.all(queue.map(({ turn }) => store.queuedPrompt(id, turn))),
    })),
  )
  const receipts = Array.from({ length: keys }, (_, key) =>
    store.receipt('POST /v1/sessions', `key ${key + 1}`),
  )
  const usage = await store.dailyUsage()
  return {
    records,
    sessions,
    receipts: await Promise.all(receipts),
    blobs: await Promise.all(blobs.map((blob) => blobOrNone(store, blob))),
    usage: usage.map((row) => JSON.stringify(Object.entries(row).sort())).sort(),
    natives: await Promise.all(NATIVES.map((native) => store.nativeOwners(native))),
    counts: [...(await store.counts())].filter(([, sessions]) => sessions > 0).sort(),
    orderOfMatches: await matchesOf(store),
  }
}

async function textsOf(store: Store, id: string, earliest: number): Promise<string[]> {
  const texts: string[] = []
  for (;;) {
    const more = await store.readTexts(id, earliest - 1 + texts.length)
    if (more.length === 0) return texts
    texts.push(...more)
  }
}

async function blobOrNone(store: Store, blob: BlobRef): Promise<string> {
  try {
    return createHash('sha256')
      .update(await blobBytes(store.readBlob(blob)))
      .digest('hex')
  } catch (thrown) {
    return String(thrown)
  }
}

/** The newest entries first, as the order of commits says. An index that is built anew has to catch up. */
async function matchesOf(store: Store): Promise<string[]> {
  const search = () => store.search({ terms: [['find']], limit: 1_000, principal: PRINCIPALS[0] ?? '' })
  await expect.poll(async () => (await search()).isComplete).toBe(true)
  return (await search()).entries.map(({ session, seq }) => `${session} ${seq}`)
}
