import { expect, test, vi } from 'vitest'
import type { Entry } from '../../src/model/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { blobBytes } from './blob-bytes.ts'
import { entries as entriesOf, entry as entryOf, sessionId, state } from './sqlite-parts.ts'

/** Opens an empty store, with the given monotonic clock instead of the system's. */
export type OpenStore = (monotonic?: () => number) => Promise<Store>

const HOUR = 3_600_000
const DAY = 24 * HOUR
const SESSION = sessionId(1)
const OTHER = sessionId(2)
const entry = (seq: number, session = SESSION) => entryOf(session, seq)
const entries = (first: number, last: number) => entriesOf(SESSION, first, last)

/** What every store promises of what it keeps, for how long, and what it knows without looking at everything. */
export function keepingContract(open: OpenStore, keyMarginMs: number): void {
  test('uses up keys together with the entries they are for', async () => {
    await using store = await open()
    const receipt = {
      scope: 's',
      key: 'k',
      fingerprint: 'f',
      session: SESSION,
      answer: { turn: 1, odd: '\ud800' },
    }
    const second = { ...receipt, key: 'l' }
    await store.append(SESSION, { entries: entries(1, 1), receipts: [receipt, second] })
    expect(await store.receipt('s', 'k')).toEqual(receipt)
    expect(await store.receipt('s', 'l')).toEqual(second)
    await store.append(SESSION, { entries: [], receipts: [{ ...receipt, key: 'm' }] })
    expect(await store.receipt('s', 'm')).toMatchObject({ key: 'm' })
  })

  test('refuses a key that is taken, or about to be, with all that came along', async () => {
    await using store = await open()
    const receipt = { scope: 's', key: 'k', fingerprint: 'f', session: SESSION, answer: 1 }
    const answers = await Promise.allSettled([
      store.append(SESSION, { entries: entries(1, 1), receipts: [receipt] }),
      store.append(SESSION, { entries: entries(2, 2), receipts: [{ ...receipt, answer: 2 }] }),
    ])
    expect(answers).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'conflict' } },
    ])
    const again = store.append(SESSION, { entries: entries(2, 2), receipts: [receipt] })
    await expect(again).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.head(SESSION)).toBe(1)
    expect(await store.receipt('s', 'k')).toEqual(receipt)
    await store.append(SESSION, { entries: entries(2, 2) })
  })

  test('forgets keys that were used long ago, and no others', async () => {
    let now = 5_000
    await using store = await open(() => now)
    const receipt = { scope: 's', key: 'k', fingerprint: 'f', session: SESSION }
    await store.create(SESSION, { entries: entries(1, 1) }, receipt)
    now += 1_000
    const second = { ...receipt, key: 'l' }
    await store.append(SESSION, { entries: [], receipts: [second] })
    now += DAY + keyMarginMs - 1
    await store.forgetReceipts(DAY)
    expect(await store.receipt('s', 'k')).toBeUndefined()
    expect(await store.receipt('s', 'l')).toEqual(second)
    now += 2
    await store.forgetReceipts(DAY)
    expect(await store.receipt('s', 'l')).toBeUndefined()
    expect(await store.head(SESSION)).toBe(1)
  })

  test.each([25 * HOUR, -25 * HOUR])('forgets no key when the system clock jumps by %d ms', async (jump) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      await using store = await open()
      const receipt = { scope: 's', key: 'k', fingerprint: 'f', session: SESSION }
      await store.create(SESSION, { entries: entries(1, 1) }, receipt)
      vi.setSystemTime(Date.now() + jump)
      const second = { ...receipt, key: 'l' }
      await store.append(SESSION, { entries: [], receipts: [second] })
      vi.setSystemTime(Date.now() - jump)
      await store.forgetReceipts(DAY)
      expect(await store.receipt('s', 'k')).toEqual(receipt)
      expect(await store.receipt('s', 'l')).toEqual(second)
    } finally {
      vi.useRealTimers()
    }
  })

  test('keeps the keys of a deleted session, without their answers', async () => {
    await using store = await open()
    const receipt = { scope: 's\ud800"', key: 'k\0', fingerprint: 'f', session: SESSION }
    const other = { ...receipt, key: 'other', session: OTHER, answer: { title: 'kept' } }
    const answered = { ...receipt, answer: { title: 'secret plan', odd: '\ud800' } }
    await store.append(SESSION, { entries: entries(1, 1), receipts: [answered] })
    await store.append(OTHER, { entries: [entry(1, OTHER)], receipts: [other] })
    await store.delete(SESSION)
    expect(await store.receipt('s\ud800"', 'k\0')).toEqual(receipt)
    expect(await store.receipt('s\ud800"', 'other')).toEqual(other)
    expect(await store.create(SESSION, { entries: entries(1, 1) }, { ...answered, session: OTHER })).toEqual(
      receipt,
    )
    expect(await store.head(SESSION)).toBe(0)
  })

  test('removes the oldest entries, and refuses reads of them', async () => {
    await using store = await open()
    for (let first = 1; first <= 41; first += 10) {
      await store.append(SESSION, { entries: entries(first, first + 9), record: state(SESSION) })
    }
    expect(await store.record(SESSION)).not.toHaveProperty('earliest')
    await store.trim(SESSION, { seq: 31 })
    expect(await store.record(SESSION)).toMatchObject({ earliest: 31, head: 50 })
    expect(await store.read(SESSION, 30, 100)).toEqual(entries(31, 50))
    expect(await store.read(SESSION, 44, 100)).toEqual(entries(45, 50))
    expect(await store.read(SESSION, 50, 100)).toEqual([])
    for (const after of [0, 1, 29]) {
      const gone = { code: 'cursor_gone', details: { earliest: 31 } }
      await expect(store.read(SESSION, after, 100)).rejects.toMatchObject(gone)
      await expect(store.readTexts(SESSION, after)).rejects.toMatchObject(gone)
    }
  })

  test('drops from the middle of what was committed together, again and again', async () => {
    await using store = await open()
    await store.append(SESSION, { entries: entries(1, 100), record: state(SESSION) })
    await store.append(SESSION, { entries: entries(101, 200) })
    for (const seq of [41, 101, 150]) {
      await store.trim(SESSION, { seq })
      const { earliest = 1 } = (await store.record(SESSION)) ?? {}
      expect(earliest).toBeLessThanOrEqual(seq)
      const read: Entry[] = []
      for (let after = earliest - 1; after < 200; after = earliest - 1 + read.length) {
        read.push(...(await store.read(SESSION, after, 64)))
      }
      expect(read).toEqual(entries(earliest, 200))
    }
  })

  test('never drops the last entry, nor gives its seq again', async () => {
    await using store = await open()
    for (const seq of [1, 2, 3])
      await store.append(SESSION, { entries: [entry(seq)], record: state(SESSION) })
    await store.trim(SESSION, { seq: 99 })
    await store.trim(SESSION, { seq: 2 })
    expect(await store.read(SESSION, 2, 9)).toEqual([entry(3)])
    expect(await store.record(SESSION)).toMatchObject({ earliest: 3, head: 3, updatedAt: 3 })
    await expect(store.append(SESSION, { entries: [entry(1)] })).rejects.toMatchObject({ code: 'conflict' })
    await store.append(SESSION, { entries: [entry(4)] })
    expect(await store.read(SESSION, 2, 9)).toEqual([entry(3), entry(4)])
  })

  test('drops raw frames apart from entries', async () => {
    await using store = await open()
    const frame = (number: number) => ({ frame: number, stream: 'stdout', text: `${number}` })
    for (const seq of [1, 2, 3, 4]) {
      await store.append(SESSION, { entries: [entry(seq)], journal: [frame(seq)], record: state(SESSION) })
    }
    await store.trim(SESSION, { frame: 3 })
    expect(await store.readJournal(SESSION, 2, 9)).toEqual([frame(3), frame(4)])
    await expect(store.readJournal(SESSION, 0, 9)).rejects.toMatchObject({
      code: 'cursor_gone',
      details: { earliest: 3 },
    })
    expect(await store.record(SESSION)).toMatchObject({ earliestFrame: 3 })
    await store.trim(SESSION, { frame: 5 })
    expect(await store.readJournal(SESSION, 4, 9)).toEqual([])
    expect(await store.record(SESSION)).toMatchObject({ earliestFrame: 5 })
    expect(await store.read(SESSION, 0, 9)).toHaveLength(4)
    await store.trim(OTHER, { seq: 1, frame: 1 })
    expect(await store.record(OTHER)).toBeUndefined()
  })

  test('counts sessions by what they are now', async () => {
    await using store = await open()
    expect([...(await store.counts())]).toEqual([])
    await store.create(SESSION, { entries: entries(1, 1), record: state(SESSION) })
    await store.create(OTHER, { entries: [entry(1, OTHER)], record: state(OTHER) })
    const busy = { ...state(SESSION), status: 'busy' as const }
    for (const seq of [2, 3]) await store.append(SESSION, { entries: [entry(seq)], record: busy })
    expect(Object.fromEntries(await store.counts())).toEqual({ idle: 1, busy: 1 })
    await store.delete(OTHER)
    const ended = { ...busy, status: 'ended' as const }
    await store.append(SESSION, { entries: [entry(4)], record: ended })
    expect((await store.counts()).get('ended')).toBe(1)
    expect((await store.counts()).get('idle') ?? 0).toBe(0)
  })

  test('keeps usage after its sessions are deleted, and unreported figures stay unknown', async () => {
    await using store = await open()
    const day = Date.UTC(2026, 0, 1)
    const charge = { principal: 'ann', agent: 'a', at: day, sessions: 1, turns: 0, usage: {} }
    const turn = { ...charge, sessions: 0, turns: 1 }
    await store.create(SESSION, { entries: entries(1, 1), charges: [charge] })
    await store.append(SESSION, {
      entries: entries(2, 2),
      charges: [
        { ...turn, usage: { input: 3, costUsd: 0.1 } },
        { ...turn, at: day + 86_399_999, usage: { output: 2, costUsd: 0.2, partial: true } },
        { ...turn, usage: { output: 1 } },
        { ...turn, at: day + 86_400_000 },
        { ...turn, principal: 'bob' },
      ],
    })
    await store.delete(SESSION)
    const usage = { input: 3, output: 3, costUsd: 0.3, partial: true }
    expect(await store.dailyUsage('ann')).toEqual([
      { principal: 'ann', agent: 'a', day: '2026-01-01', sessions: 1, turns: 3, usage },
      { principal: 'ann', agent: 'a', day: '2026-01-02', sessions: 0, turns: 1, usage: {} },
    ])
    expect(await store.dailyUsage('nobody')).toEqual([])
  })

  test('keeps an account for each model and principal', async () => {
    await using store = await open()
    const charge = { principal: 'ann', agent: 'a', at: 0, sessions: 0, turns: 1, usage: { input: 1 } }
    const charges = [charge, { ...charge, model: 'm' }, { ...charge, model: 'm' }, { ...charge, model: 'n' }]
    await store.create(SESSION, {
      entries: entries(1, 1),
      charges: [...charges, { ...charge, principal: 'bob' }],
    })
    const account = {
      principal: 'ann',
      agent: 'a',
      day: '1970-01-01',
      sessions: 0,
      turns: 1,
      usage: { input: 1 },
    }
    const ofAnn = [
      account,
      { ...account, model: 'm', turns: 2, usage: { input: 2 } },
      { ...account, model: 'n' },
    ]
    const usageOf = async (principal?: string) =>
      [...(await store.dailyUsage(principal))].sort((a, b) =>
        `${a.principal} ${a.model ?? ''}`.localeCompare(`${b.principal} ${b.model ?? ''}`),
      )
    expect(await usageOf('ann')).toEqual(ofAnn)
    expect(await usageOf()).toEqual([...ofAnn, { ...account, principal: 'bob' }])
  })

  test('knows the principals of a native conversation, also after their sessions are removed', async () => {
    await using store = await open()
    const named = { principal: 'ann', nativeSessionId: 'n1', announcedSessionId: 'n2', resumedFrom: 'n3' }
    await store.create(SESSION, { entries: [], record: { ...state(SESSION), principal: 'ann' } })
    await store.append(SESSION, { entries: [], record: { ...state(SESSION), ...named } })
    await store.append(SESSION, {
      entries: [],
      record: { ...state(SESSION), ...named, nativeSessionId: 'n4' },
    })
    await store.create(OTHER, {
      entries: [],
      record: { ...state(OTHER), principal: 'bob', resumedFrom: 'n4' },
    })
    await store.delete(SESSION)
    const owners = await Promise.all(['n1', 'n2', 'n3', 'n4', 'n5'].map((id) => store.nativeOwners(id)))
    expect(owners).toEqual([['ann'], ['ann'], ['ann'], ['ann', 'bob'], []])
  })

  test('removes the blobs of a session with it, and no others', async () => {
    await using store = await open()
    const keep = async (session: string) => {
      const writer = store.blobs.open()
      writer.write(Uint8Array.of(1))
      const blob = await writer.close()
      const event = { type: 'native.unmapped', nativeType: 'x', blob } as const
      await store.append(session, { entries: [{ seq: 1, session, at: 1, event }] })
      return blob
    }
    const [mine, theirs] = [await keep(SESSION), await keep(OTHER)]
    await store.delete(SESSION)
    await expect(blobBytes(store.readBlob(mine))).rejects.toMatchObject({ code: 'not_found' })
    expect([...(await blobBytes(store.readBlob(theirs)))]).toEqual([1])
    const next = await keep(SESSION)
    expect([mine.id, theirs.id]).not.toContain(next.id)
  })

  test('keeps the blobs that an entry lists, and removes them with their session', async () => {
    await using store = await open()
    const write = async (...bytes: number[]) => {
      const writer = store.blobs.open()
      writer.write(Uint8Array.from(bytes))
      return writer.close()
    }
    const [one, other] = [await write(1), await write(2, 3)]
    const event = { type: 'native.unmapped', nativeType: 'x', blob: one } as const
    const entry = (seq: number) => ({ seq, session: SESSION, at: 1, event, blobs: [one, other] })
    await store.append(SESSION, { entries: [entry(1), entry(2)] })
    await store.append(SESSION, { entries: [entry(3)] })
    expect([...(await blobBytes(store.readBlob(other)))]).toEqual([2, 3])
    expect(await store.read(SESSION, 0, 10)).toEqual([entry(1), entry(2), entry(3)])
    await store.delete(SESSION)
    for (const blob of [one, other])
      await expect(blobBytes(store.readBlob(blob))).rejects.toMatchObject({ code: 'not_found' })
  })

  test('keeps nothing of a blob that was discarded', async () => {
    await using store = await open()
    const writer = store.blobs.open()
    writer.write(Uint8Array.of(1))
    writer.discard()
    const next = store.blobs.open()
    next.write(Uint8Array.of(2))
    expect([...(await blobBytes(store.readBlob(await next.close())))]).toEqual([2])
  })
}
