import { expect, test } from 'vitest'
import type { Entry } from '../../src/model/index.ts'
import { importing } from '../../src/model/owner.ts'
import { SEARCH_CHARS, searchTerms } from '../../src/model/text/search-terms.ts'
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
  const found = async (store: Store, query: string, limit = 10) => {
    const matches = await store.search({ principal: 'local', terms: searchTerms(query), limit })
    expect(matches.isComplete).toBe(true)
    return matches.entries.map(({ session, seq }) => `${session.at(-1)}.${seq}`)
  }

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

  /** One session whose entries have these texts. */
  async function withTexts(...texts: string[]): Promise<Store> {
    const store = await open()
    const entries = texts.map((text, index) => said(FIRST, index + 1, text))
    await store.append(FIRST, { entries, record: state(FIRST) })
    return store
  }

  test('a search finds entries of the principal that contain every word, the newest first', async () => {
    await using store = await filled()
    expect(await found(store, 'cart')).toEqual(['2.2', '1.1'])
    expect(await found(store, 'cart fix')).toEqual(['1.1'])
    expect(await found(store, 'cart', 1)).toEqual(['2.2'])
    expect(await found(store, 'missing')).toEqual([])
    expect(await found(store, 'cart missing')).toEqual([])
  })

  test('the index says how far it is behind, and catches up', async () => {
    await using store = await filled()
    const { since } = await store.searchLag()
    // Of the first row that waits; a store without an index has none.
    expect([undefined, 2]).toContain(since)
    await found(store, 'cart')
    await expect.poll(() => store.searchLag(), { timeout: 10_000 }).toEqual({ backlog: 0 })
  })

  test('the order of a search is that of the commits, also where clocks disagree', async () => {
    await using store = await open()
    const at = (entry: Entry, time: number) => ({ ...entry, at: time })
    await store.append(FIRST, { entries: [at(said(FIRST, 1, 'a cart'), 90)], record: state(FIRST) })
    await store.append(SECOND, { entries: [at(said(SECOND, 1, 'a cart'), 10)], record: state(SECOND) })
    await store.append(FIRST, { entries: [said(FIRST, 2, 'a cart'), said(FIRST, 3, 'a cart')] })
    expect(await found(store, 'cart')).toEqual(['1.3', '1.2', '2.1', '1.1'])
  })

  test('a search finds words by their beginning, and not by their middle or end', async () => {
    await using store = await withTexts('Refactor the shopping cart')
    expect(await found(store, 'refac shop')).toEqual(['1.1'])
    expect(await found(store, 'factor')).toEqual([])
    expect(await found(store, 'carts')).toEqual([])
  })

  test('a search ignores case, accents and signs', async () => {
    await using store = await withTexts(
      '100% "Done" in a_b\\c',
      'größer, a CAFÉ',
      "it's %_*-:^() NEAR OR AND",
    )
    for (const query of ['100%', '"done"', 'A_B\\c'])
      expect(await found(store, query), query).toEqual(['1.1'])
    for (const query of ['größer', 'größ cafe', 'café', 'CAFE'])
      expect(await found(store, query), query).toEqual(['1.2'])
    for (const query of ["it's", 'near', 'OR and', '"s"', 'NEAR(or'])
      expect(await found(store, query), query).toEqual(['1.3'])
  })

  test('the parts of a path or of a name have to follow each other', async () => {
    await using store = await withTexts('edit src/cart.ts', 'cart src ts', 'user_name')
    expect(await found(store, 'src/cart')).toEqual(['1.1'])
    expect(await found(store, 'src/cart.t')).toEqual(['1.1'])
    expect(await found(store, 'src cart')).toEqual(['1.2', '1.1'])
    expect(await found(store, 'name')).toEqual(['1.3'])
    expect(await found(store, 'user_na')).toEqual(['1.3'])
  })

  test('a search finds words of scripts that put no spaces between them', async () => {
    await using store = await withTexts('修复购物车', '車を直す', '장바구니')
    expect(await found(store, '购物')).toEqual(['1.1'])
    expect(await found(store, '物购')).toEqual([])
    expect(await found(store, '直す')).toEqual(['1.2'])
    expect(await found(store, '장바')).toEqual(['1.3'])
  })

  test('every word has to be in the same entry', async () => {
    await using store = await withTexts('first half', 'second part')
    expect(await found(store, 'first second')).toEqual([])
  })

  test('the beginning of a long text is searched', async () => {
    const long = `needle ${'x'.repeat(100)} ${'straw '.repeat(SEARCH_CHARS / 6)}end`
    await using store = await withTexts(long, 'next')
    expect(await found(store, 'needle straw')).toEqual(['1.1'])
    expect(await found(store, 'x'.repeat(99))).toEqual(['1.1'])
    expect(await found(store, 'end')).toEqual([])
    expect(await found(store, 'next')).toEqual(['1.2'])
  })

  test('a search does not find what was removed', async () => {
    await using store = await filled()
    expect(await found(store, 'cart')).toEqual(['2.2', '1.1'])
    await store.delete(SECOND)
    expect(await found(store, 'cart')).toEqual(['1.1'])
    const again = { ...state(SECOND), principal: 'local' }
    await store.append(SECOND, { entries: [said(SECOND, 1, 'begun again')], record: again })
    expect(await found(store, 'other')).toEqual([])
    expect(await found(store, 'again')).toEqual(['2.1'])
  })

  test('a search finds entries of a session that was imported', async () => {
    await using store = await open()
    const half = { ...state(FIRST), principal: importing('local') }
    await store.append(FIRST, { entries: [said(FIRST, 1, 'a cart')], record: half })
    expect(await found(store, 'cart')).toEqual([])
    await store.append(FIRST, { entries: [said(FIRST, 2, 'other')], record: state(FIRST) })
    expect(await found(store, 'cart')).toEqual(['1.1'])
  })

  test('the time of a search does not tell which words others use', async () => {
    await using store = await open()
    const own = { ...state(FIRST), principal: 'local' }
    await store.append(FIRST, { entries: [said(FIRST, 1, 'mine')], record: own })
    const rows = Array.from({ length: 20_000 }, (_, at) => said(FOREIGN, at + 1, `acquisition ${at % 50}`))
    for (let at = 0; at < rows.length; at += 500) {
      const entries = rows.slice(at, at + 500)
      await store.append(FOREIGN, { entries, record: { ...state(FOREIGN), principal: 'guest' } })
    }
    await expect.poll(() => found(store, 'mine'), { timeout: 60_000 }).toEqual(['1.1'])
    const took = async (query: string) => {
      const began = performance.now()
      expect(await found(store, query)).toEqual([])
      return performance.now() - began
    }
    // In turns, so that a busy machine slows both. A search that looked at the entries of others takes over a hundred
    // times as long.
    let [used, unused] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let count = 0; count < 15; count++) {
      used = Math.min(used, await took('acquisition'))
      unused = Math.min(unused, await took('zzzzzz'))
    }
    expect(used).toBeLessThan(10 * unused + 5)
  }, 120_000)

  test('a search does not find what was trimmed', async () => {
    await using store = await open()
    await store.append(FIRST, { entries: [said(FIRST, 1, 'early cart')], record: state(FIRST) })
    await store.append(FIRST, { entries: [said(FIRST, 2, 'late cart')] })
    expect(await found(store, 'cart')).toEqual(['1.2', '1.1'])
    await store.trim(FIRST, { seq: 2 })
    expect(await found(store, 'cart')).toEqual(['1.2'])
    expect(await found(store, 'early')).toEqual([])
  })
}
