import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openStore, type StorePlace } from '../../src/compose/open-store.ts'
import { searchTerms } from '../../src/model/text/search-terms.ts'
import type { Store } from '../../src/stores/store.ts'
import { newSchema } from '../postgres/database.ts'
import { entries, sessionId, state } from '../stores/sqlite-parts.ts'

const ID = sessionId(1)

let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'open-store-'))
})
afterEach(() => {
  rmSync(data, { recursive: true })
})

async function withStore(
  place: Omit<StorePlace, 'data'>,
  use: (store: Store) => Promise<void>,
): Promise<void> {
  const opened = await openStore({ data, ...place })
  using _ = opened.lock
  await using store = opened.store
  await use(store)
}

const search = (store: Store) => store.search({ principal: 'local', terms: searchTerms('needle'), limit: 9 })

const text = { type: 'text.completed', messageId: 'm', text: 'a needle' } as const
const written = () => {
  const [first] = entries(ID, 1, 1)
  return { entries: first ? [{ ...first, event: text }] : [], record: state(ID) }
}

const PLACES = {
  sqlite: async () => ({ durability: 'process' }) as const,
  postgres: async () => ({ durability: 'process', store: { url: await newSchema() } }) as const,
}

describe.each(Object.entries(PLACES))('a store in %s', (_, placeOf) => {
  test.each([undefined, 'on'] as const)('with search %s finds what was written', async (setting) => {
    await withStore({ ...(await placeOf()), search: setting }, async (store) => {
      await store.append(ID, written())
      expect(await search(store)).toMatchObject({ entries: [{ seq: 1 }], isComplete: true })
    })
  })

  test('with search off refuses a search, also one of what was written with an index', async () => {
    const place = await placeOf()
    await withStore(place, async (store) => {
      await store.append(ID, written())
      expect((await search(store)).entries).toHaveLength(1)
    })
    await withStore({ ...place, search: 'off' }, async (store) => {
      await expect(search(store)).rejects.toMatchObject({ code: 'unsupported_option' })
      expect(await store.head(ID)).toBe(1)
    })
  })
})

test('a file has no index, and no thread that makes one, before the first search', async () => {
  const index = join(data, 'log', 'search.db')
  await withStore({ durability: 'process' }, async (store) => {
    await store.append(ID, written())
    await store.delete(ID)
    expect(await store.records({ limit: 9 })).toEqual([])
    expect(existsSync(index)).toBe(false)
    await search(store)
    expect(existsSync(index)).toBe(true)
  })
})
