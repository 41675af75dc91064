import { describe, expect, test } from 'vitest'
import type { RequestOpened } from '../../src/model/events/request.ts'
import type { Entry } from '../../src/model/index.ts'
import type { SessionQuery, Store } from '../../src/stores/store.ts'
import { blobBytes } from './blob-bytes.ts'
import { accessContract } from './contract-access.ts'
import { boundsContract } from './contract-bounds.ts'
import { callContract } from './contract-calls.ts'
import { keepingContract, type OpenStore } from './contract-keeping.ts'
import { leaseContract } from './contract-leases.ts'
import { queueContract } from './contract-queue.ts'
import { searchContract } from './contract-search.ts'
import { typesContract } from './contract-types.ts'
import { state } from './sqlite-parts.ts'

interface Implementation {
  name: string
  open: OpenStore
  /** How much longer than asked for it keeps idempotency keys; not at all by default. */
  keyMarginMs?: number
}

const SESSION = '6b0a0a3e-6a50-4a6e-9f6c-1c5b6c1f0d01'
const OTHER = '6b0a0a3e-6a50-4a6e-9f6c-1c5b6c1f0d02'

const entry = (seq: number, line = `line ${seq}`, session = SESSION): Entry => ({
  seq,
  session,
  at: seq,
  event: { type: 'output.written', stream: 'stdout', line },
})
const entries = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => entry(from + index))
const REQUEST: RequestOpened = {
  type: 'request.opened',
  requestId: 'r',
  kind: 'permission',
  blocking: true,
  inputDigest: 'd',
  options: [],
}
const never = new AbortController().signal

/** What every store promises; an implementation is held to all of it. */
export function storeContract({ name, open, keyMarginMs = 0 }: Implementation): void {
  describe(`the ${name} store`, () => {
    keepingContract(open, keyMarginMs)
    const parts = [boundsContract, queueContract, accessContract, callContract, searchContract, leaseContract]
    for (const part of parts) part(open)
    typesContract(open, !name.includes('memory'))

    test('gives back what was appended, in order, from any cursor', async () => {
      await using store = await open()
      await store.append(SESSION, { entries: entries(1, 3) })
      await store.append(SESSION, { entries: entries(4, 10) })
      expect(await store.head(SESSION)).toBe(10)
      for (let after = 0; after <= 10; after++) {
        expect(await store.read(SESSION, after, 100)).toEqual(entries(after + 1, 10))
      }
      expect(await store.read(SESSION, 2, 3)).toEqual(entries(3, 5))
    })

    test('answers a probe, and a probe changes nothing', async () => {
      await using store = await open()
      await store.append(SESSION, { entries: entries(1, 2), record: state(SESSION) })
      const record = await store.record(SESSION)
      await Promise.all([store.probe(), store.append(SESSION, { entries: [entry(3)] }), store.probe()])
      expect(await store.read(SESSION, 0, 100)).toEqual(entries(1, 3))
      expect(await store.readJournal(SESSION, 0, 100)).toEqual([])
      expect(await store.record(SESSION)).toEqual({ ...record, head: 3, updatedAt: 3 })
    })

    test.each([
      ['record', async (store: Store) => (await store.record(SESSION))?.head ?? 0],
      ['records', async (store: Store) => (await store.records({ limit: 1 }))[0]?.head ?? 0],
    ])('never shows a head in %s() that read() does not reach', async (_name, headOf) => {
      await using store = await open()
      await store.append(SESSION, { entries: entries(1, 1), record: state(SESSION) })
      for (let seq = 2; seq <= 20; seq++) {
        const written = store.append(SESSION, { entries: [entry(seq)] })
        // Only microtasks run here, so a commit can reach the database before its acknowledgement arrives.
        while ((await headOf(store)) < seq);
        expect(await store.read(SESSION, seq - 1, 1)).toEqual([entry(seq)])
        await written
      }
    })

    test('gives the whole log in pages of any size, however it was committed', async () => {
      await using store = await open()
      for (const count of [1, 1, 62, 1, 64, 600, 3, 200]) {
        const head = await store.head(SESSION)
        await store.append(SESSION, { entries: entries(head + 1, head + count) })
      }
      const all = entries(1, await store.head(SESSION))
      for (const limit of [7, 64, 100, 512, 5000]) {
        const read: Entry[] = []
        while (read.length < all.length) {
          const page = await store.read(SESSION, read.length, limit)
          expect(page.length).toBeGreaterThan(0)
          expect(page.length).toBeLessThanOrEqual(limit)
          read.push(...page)
        }
        expect(read).toEqual(all)
      }
      expect(await store.read(SESSION, all.length, 512)).toEqual([])
    })

    test.each([
      ['a gap', entries(4, 5)],
      ['a repeat', entries(2, 3)],
      ['a gap inside', [entry(3), entry(5)]],
    ])('refuses %s and keeps nothing of it', async (_what, wrong) => {
      await using store = await open()
      await store.append(SESSION, { entries: entries(1, 2) })
      await expect(store.append(SESSION, { entries: wrong })).rejects.toMatchObject({ code: 'conflict' })
      expect(await store.read(SESSION, 0, 100)).toEqual(entries(1, 2))
    })

    test('keeps text byte for byte', async () => {
      await using store = await open()
      const odd = '\0\u2028\ud800"\\\r\n\u{1F680}'
      await store.append(SESSION, { entries: [entry(1, odd)] })
      expect(await store.read(SESSION, 0, 1)).toEqual([entry(1, odd)])
    })

    test('gives the texts of entries as they are kept, from any cursor to the head', async () => {
      await using store = await open()
      const all = entries(1, 1300)
      for (const to of [1, 3, 900, 1300]) {
        const from = await store.head(SESSION)
        await store.append(SESSION, { entries: all.slice(from, to) })
      }
      for (const after of [0, 1, 2, 3, 511, 899, 1299]) {
        const texts: string[] = []
        while (after + texts.length < 1300)
          texts.push(...(await store.readTexts(SESSION, after + texts.length)))
        expect(texts).toEqual(all.slice(after).map((entry) => JSON.stringify(entry)))
      }
      expect(await store.readTexts(SESSION, 1300)).toEqual([])
      expect(await store.readTexts(OTHER, 0)).toEqual([])
    })

    test('has no log of a session it does not know', async () => {
      await using store = await open()
      expect(await store.head(SESSION)).toBe(0)
      expect(await store.read(SESSION, 0, 10)).toEqual([])
    })

    test('keeps sessions apart', async () => {
      await using store = await open()
      await store.append(SESSION, { entries: entries(1, 2) })
      await store.append(OTHER, { entries: [entry(1, 'other', OTHER)] })
      expect(await store.read(OTHER, 0, 10)).toEqual([entry(1, 'other', OTHER)])
      await store.delete(SESSION)
      expect(await store.head(SESSION)).toBe(0)
      expect(await store.head(OTHER)).toBe(1)
    })

    test('wakes a reader that waits, and one that comes late', async () => {
      await using store = await open()
      const waiting = store.changed(SESSION, 0, never)
      await store.append(SESSION, { entries: entries(1, 1) })
      await waiting
      await store.changed(SESSION, 0, never)
    })

    test('resolves for a reader whose signal fires, or has fired already', async () => {
      await using store = await open()
      const leave = new AbortController()
      const waiting = store.changed(SESSION, 0, leave.signal)
      leave.abort()
      await waiting
      await store.changed(SESSION, 0, leave.signal)
    })

    test('a closed store ends the wait of its readers, and refuses the next', async () => {
      const store = await open()
      await store.append(SESSION, { entries: entries(1, 3) })
      const waiting = store.changed(SESSION, 3, never)
      await store[Symbol.asyncDispose]()
      await waiting
      await expect(store.changed(SESSION, 3, never)).rejects.toMatchObject({ code: 'storage_failed' })
    })

    test('stores a key for the first caller, together with its log', async () => {
      await using store = await open()
      const first = { scope: 'a POST', key: 'k', fingerprint: 'f', session: SESSION }
      const second = { ...first, fingerprint: 'g', session: OTHER }
      const other = { entries: [entry(1, 'other', OTHER)] }
      const held = await Promise.all([
        store.create(SESSION, { entries: entries(1, 1) }, first),
        store.create(OTHER, other, second),
      ])
      expect(held).toEqual([first, first])
      expect(await store.head(SESSION)).toBe(1)
      expect(await store.head(OTHER)).toBe(0)
      const elsewhere = { ...second, scope: 'b POST' }
      expect(await store.create(OTHER, other, elsewhere)).toEqual(elsewhere)
      expect(await store.receipt('a POST', 'k')).toEqual(first)
      expect(await store.receipt('a POST', 'other')).toBeUndefined()
      // Scope and key are two things: no choice of characters may make them meet.
      expect(await store.receipt('a POST\nk', '')).toBeUndefined()
    })

    test('does not use up a key for a log that cannot begin', async () => {
      await using store = await open()
      await store.append(SESSION, { entries: entries(1, 1) })
      const receipt = { scope: 's', key: 'k', fingerprint: 'f', session: SESSION }
      const again = store.create(SESSION, { entries: entries(1, 1) }, receipt)
      await expect(again).rejects.toMatchObject({ code: 'conflict' })
      expect(await store.receipt('s', 'k')).toBeUndefined()
    })

    test('keeps what a session is beside its log', async () => {
      await using store = await open()
      await store.create(SESSION, { entries: entries(1, 2), record: state(SESSION) })
      expect(await store.record(SESSION)).toEqual({ ...state(SESSION), head: 2, updatedAt: 2 })
      await store.append(SESSION, { entries: entries(3, 3) })
      expect(await store.record(SESSION)).toEqual({ ...state(SESSION), head: 3, updatedAt: 3 })
      await store.append(SESSION, { entries: entries(4, 4), record: { ...state(SESSION), status: 'busy' } })
      expect(await store.record(SESSION)).toMatchObject({ status: 'busy', head: 4 })
      expect(await store.record(OTHER)).toBeUndefined()
    })

    test('lists sessions newest first, by what is asked of them', async () => {
      await using store = await open()
      const ids = Array.from({ length: 5 }, (_, index) => SESSION.replace(/1$/, String(index + 2)))
      for (const [index, id] of ids.entries()) {
        const more = {
          principal: index % 2 === 0 ? 'ann' : 'bob',
          createdAt: index,
          requests: index === 3 ? [REQUEST] : [],
          ...([0, 2, 3, 4].includes(index) && {
            lastOutcome: (['failed', 'lost', 'lost', 'interrupted', 'crashed'] as const)[index],
          }),
          ...(index === 4 && { status: 'busy' as const }),
          ...(index === 1 && { nativeSessionId: 'theirs' }),
          ...(index === 2 && { nativeSessionId: 'ours', resumedFrom: 'theirs' }),
        }
        await store.create(id, { entries: [entry(1, 'x', id)], record: { ...state(id), ...more } })
      }
      const list = async (query: Omit<SessionQuery, 'limit'>, limit = 10) =>
        (await store.records({ ...query, limit })).map(({ id }) => ids.indexOf(id))
      expect(await list({})).toEqual([4, 3, 2, 1, 0])
      expect(await list({}, 2)).toEqual([4, 3])
      expect(await list({ before: ids[3] ?? '' }, 2)).toEqual([2, 1])
      expect(await list({ principals: ['ann'] })).toEqual([4, 2, 0])
      expect(await list({ asking: true })).toEqual([3])
      expect(await list({ status: 'busy' })).toEqual([4])
      expect(await list({ failed: true })).toEqual([2, 0])
      expect(await list({ failed: true, principals: ['bob'] })).toEqual([])
      expect(await list({ failed: false })).toEqual([4, 3, 1])
      await store.delete(ids[4] ?? '')
      expect(await list({})).toEqual([3, 2, 1, 0])
    })

    test('a page of records is bounded by bytes and always has the first', async () => {
      await using store = await open()
      const ids = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-${n}`.padEnd(36, '0'))
      for (const id of ids) {
        const record = { ...state(id), title: 'x'.repeat(300_000) }
        await store.create(id, { entries: [entry(1, 'x', id)], record })
      }
      const page = async (query: Partial<SessionQuery>) =>
        (await store.records({ limit: 9, ...query })).map(({ id }) => ids.indexOf(id))
      expect(await page({})).toEqual([3, 2, 1, 0])
      expect(await page({ maxBytes: 700_000 })).toEqual([3, 2])
      expect(await page({ maxBytes: 700_000, before: ids[2] ?? '' })).toEqual([1, 0])
      expect(await page({ maxBytes: 1 })).toEqual([3])
      expect(await page({ maxBytes: 1, before: ids[0] ?? '' })).toEqual([])
    })

    test('keeps raw frames beside the log', async () => {
      await using store = await open()
      const frames = [
        { frame: 1, stream: 'stdout', text: '{"a":1}' },
        { frame: 2, stream: 'stderr', text: 'oops' },
      ]
      await store.append(SESSION, { entries: entries(1, 1), journal: frames })
      expect(await store.readJournal(SESSION, 0, 10)).toEqual(frames)
      expect(await store.readJournal(SESSION, 1, 10)).toEqual(frames.slice(1))
    })

    test('the last frame counts are part of the record and stay with it', async () => {
      await using store = await open()
      const counts = (frames: number) => ({
        frames,
        coverage: { frames: frames - 1, mapped: frames - 6, unmapped: 1, malformed: 2, oversized: 2 },
      })
      await store.create(SESSION, { entries: entries(1, 1), record: state(SESSION), frameCounts: counts(10) })
      await store.append(SESSION, { entries: entries(2, 2), frameCounts: counts(11) })
      expect(await store.record(SESSION)).toEqual({ ...state(SESSION), head: 2, updatedAt: 2, ...counts(11) })
      await store.append(SESSION, { entries: [], frameCounts: counts(12) })
      await store.append(SESSION, { entries: [], record: { ...state(SESSION), title: 'new', ...counts(12) } })
      const [record] = await store.records({ limit: 1 })
      expect(record).toMatchObject({ title: 'new', ...counts(12) })
      await store.delete(SESSION)
      await store.create(SESSION, { entries: entries(1, 1), record: state(SESSION) })
      expect((await store.record(SESSION))?.frames).toBe(0)
    })

    test('keeps large bytes whole, however they were written', async () => {
      await using store = await open()
      const writer = store.blobs.open()
      const chunk = Uint8Array.of(1, 2, 3)
      writer.write(chunk)
      chunk.fill(9)
      writer.write(Uint8Array.of(4))
      const ref = await writer.close()
      expect(ref.bytes).toBe(4)
      expect([...(await blobBytes(store.readBlob(ref)))]).toEqual([1, 2, 3, 4])
      expect([...(await blobBytes(store.readBlob(ref, { start: 1, end: 3 })))]).toEqual([2, 3])
      await expect(blobBytes(store.readBlob({ id: 'nothing', bytes: 0 }))).rejects.toMatchObject({
        code: 'not_found',
      })
    })

    test('removes bytes that no entry refers to, and keeps those of an entry', async () => {
      await using store = await open()
      const [unused, used] = await Promise.all(
        ['a', 'b'].map((text) => {
          const writer = store.blobs.open()
          writer.write(new TextEncoder().encode(text))
          return writer.close()
        }),
      )
      if (!unused || !used) throw new Error('both were written')
      await store.create(SESSION, { entries: [{ ...entry(1), blobs: [used] }], record: state(SESSION) })
      await store.blobs.remove(unused)
      await expect(blobBytes(store.readBlob(unused))).rejects.toMatchObject({ code: 'not_found' })
      expect((await blobBytes(store.readBlob(used))).toString()).toBe('b')
    })

    test('reads large bytes in pieces, and a part of them from where it begins', async () => {
      await using store = await open()
      const writer = store.blobs.open()
      const content = Uint8Array.from({ length: 2_000_000 }, (_, index) => index % 251)
      writer.write(content)
      const ref = await writer.close()
      const pieces = await Array.fromAsync(store.readBlob(ref))
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(1024 * 1024)
      expect(Buffer.concat(pieces).equals(content)).toBe(true)
      const range = { start: 300_000, end: 1_900_001 }
      const part = await blobBytes(store.readBlob(ref, range))
      expect(part.equals(content.subarray(range.start, range.end))).toBe(true)
    })
  })
}
