import { expect, test } from 'vitest'
import { type AcceptedPrompt, queuePreview } from '../../src/model/session/queue-preview.ts'
import type { Store } from '../../src/stores/store.ts'
import { entries, sessionId, state } from './sqlite-parts.ts'

const SESSION = sessionId(1)
const OTHER = sessionId(2)

const prompt = (turn: number, more: Partial<AcceptedPrompt> = {}): AcceptedPrompt => ({
  turn,
  prompt: `prompt ${turn},\n\ud800\u2028"`,
  ...more,
})

const queueOf = async (store: Store, session = SESSION) => (await store.record(session))?.queue

/** What every store promises of the prompts that wait. */
export function queueContract(open: () => Promise<Store>): void {
  test('keeps queued prompts in the order they came, until each leaves', async () => {
    await using store = await open()
    const images = [{ mimeType: 'image/png', data: 'AAAA' }]
    await store.create(SESSION, { entries: entries(SESSION, 1, 1), record: state(SESSION) })
    expect(await queueOf(store)).toEqual([])
    await store.append(SESSION, { entries: entries(SESSION, 2, 2), queued: [prompt(2, { images })] })
    await store.append(SESSION, { entries: [], queued: [prompt(3), prompt(4)] })
    const second = { ...prompt(2), images: 1 }
    const all = [second, prompt(3), prompt(4)]
    expect(await queueOf(store)).toEqual(all)
    expect((await store.records({ limit: 1 }))[0]?.queue).toEqual(all)
    // A new record does not touch the queue.
    await store.append(SESSION, { entries: [], record: state(SESSION, { status: 'busy' }) })
    expect(await queueOf(store)).toEqual(all)
    await store.append(SESSION, { entries: [], queued: [prompt(5)], dequeued: [3] })
    expect(await queueOf(store)).toEqual([second, prompt(4), prompt(5)])
    await store.append(SESSION, { entries: [], dequeued: [2, 4, 5] })
    expect(await queueOf(store)).toEqual([])
  })

  test('a record has the beginning of a long prompt and the number of its images; the whole can be read', async () => {
    await using store = await open()
    const images = [{ mimeType: 'image/png', data: 'A'.repeat(400_000) }]
    const long = prompt(2, { prompt: `${'x'.repeat(1_999)}\u{1F680}${'y'.repeat(500_000)}`, images })
    await store.create(SESSION, { entries: entries(SESSION, 1, 1), record: state(SESSION) })
    await store.append(SESSION, { entries: [], queued: [long, prompt(3)] })
    const preview = { turn: 2, prompt: 'x'.repeat(1_999), truncated: true, images: 1 }
    expect(queuePreview(long)).toEqual(preview)
    expect(await queueOf(store)).toEqual([preview, prompt(3)])
    expect(await store.queuedPrompt(SESSION, 2)).toEqual(long)
    expect(await store.queuedPrompt(SESSION, 3)).toEqual(prompt(3))
    expect(await store.queuedPrompt(SESSION, 4)).toBeUndefined()
    expect(await store.queuedPrompt(OTHER, 2)).toBeUndefined()
    await store.append(SESSION, { entries: [], dequeued: [2] })
    expect(await store.queuedPrompt(SESSION, 2)).toBeUndefined()
  })

  test('keeps when and why a prompt continues work, and finds the sessions in which prompts wait', async () => {
    await using store = await open()
    const continuation = { reason: 'limit', after: 1, at: 5_000, attempt: 1, of: 3, until: 9_000 } as const
    await store.create(SESSION, { entries: entries(SESSION, 1, 1), record: state(SESSION) })
    await store.create(OTHER, { entries: entries(OTHER, 1, 1), record: state(OTHER) })
    await store.append(SESSION, { entries: [], queued: [prompt(2, { continuation })] })
    expect(await queueOf(store)).toEqual([prompt(2, { continuation })])
    expect(await store.queuedPrompt(SESSION, 2)).toEqual(prompt(2, { continuation }))
    const found = async (queued: boolean) => (await store.records({ limit: 9, queued })).map(({ id }) => id)
    expect(await found(true)).toEqual([SESSION])
    expect(await found(false)).toEqual([OTHER])
    await store.append(SESSION, { entries: [], dequeued: [2] })
    expect(await found(true)).toEqual([])
  })

  test('a prompt that is queued and leaves in batches of the same moment is gone', async () => {
    await using store = await open()
    await store.create(SESSION, { entries: entries(SESSION, 1, 1), record: state(SESSION) })
    await Promise.all([
      store.append(SESSION, { entries: [], queued: [prompt(2), prompt(3)] }),
      store.append(SESSION, { entries: [], dequeued: [2] }),
    ])
    expect(await queueOf(store)).toEqual([prompt(3)])
  })

  test('keeps nothing of the queue of a batch that is refused, and removes it with its session', async () => {
    await using store = await open()
    for (const id of [SESSION, OTHER]) {
      await store.create(id, { entries: entries(id, 1, 1), record: state(id), queued: [prompt(2)] })
    }
    const gap = store.append(SESSION, { entries: entries(SESSION, 3, 3), queued: [prompt(3)], dequeued: [2] })
    await expect(gap).rejects.toMatchObject({ code: 'conflict' })
    expect(await queueOf(store)).toEqual([prompt(2)])
    await store.delete(SESSION)
    await store.create(SESSION, { entries: entries(SESSION, 1, 1), record: state(SESSION) })
    expect(await queueOf(store)).toEqual([])
    expect(await queueOf(store, OTHER)).toEqual([prompt(2)])
  })
}
