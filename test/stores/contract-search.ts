import { expect, test } from 'vitest'
import type { Entry } from '../../src/model/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { sessionId, state } from './sqlite-parts.ts'

const [FIRST, SECOND, FOREIGN] = [sessionId(1), sessionId(2), sessionId(3)]

/** What every store promises of a search. */
export function searchContract(open: () => Promise<Store>): void {
  const said = (session: string, seq: number, text: string): Entry => ({
    seq,
    session,
    at: seq,
    event: { type: 'text.completed', messageId: `m${seq}`, text },
  })
  const found = async (store: Store, words: string[], limit = 10) =>
    (await store.search({ principal: 'local', words, limit })).map(
      ({ session, seq }) => `${session.at(-1)}.${seq}`,
    )

  async function filled(): Promise<Store> {
    const store = await open()
    const record = (id: string, principal = 'local') => ({ ...state(id), principal })
    await store.append(FIRST, {
      entries: [said(FIRST, 1, 'Fix the Cart'), said(FIRST, 2, '100% "done" in a_b\\c')],
      record: record(FIRST),
    })
    await store.append(SECOND, { entries: [said(SECOND, 1, 'other')], record: record(SECOND) })
    await store.append(FOREIGN, {
      entries: [said(FOREIGN, 1, 'the cart of another')],
      record: record(FOREIGN, 'guest'),
    })
    await store.append(SECOND, {
      entries: [
        said(SECOND, 2, 'a cart again, größer'),
        { seq: 3, session: SECOND, at: 3, event: { type: 'text.delta', messageId: 'x', text: 'cart' } },
      ],
    })
    return store
  }

  test('a search finds entries of the principal that contain every word, the newest first', async () => {
    await using store = await filled()
    expect(await found(store, ['cart'])).toEqual(['2.2', '1.1'])
    expect(await found(store, ['cart', 'fix'])).toEqual(['1.1'])
    expect(await found(store, ['cart'], 1)).toEqual(['2.2'])
    expect(await found(store, ['missing'])).toEqual([])
  })

  test('a search takes signs as they are, and letters of every script without their case', async () => {
    await using store = await filled()
    for (const word of ['100%', '"done"', 'a_b\\c']) expect(await found(store, [word]), word).toEqual(['1.2'])
    expect(await found(store, ['%'])).toEqual(['1.2'])
    expect(await found(store, ['größer'])).toEqual(['2.2'])
  })

  test('a search does not find what was removed', async () => {
    await using store = await filled()
    await store.delete(SECOND)
    expect(await found(store, ['cart'])).toEqual(['1.1'])
  })
}
