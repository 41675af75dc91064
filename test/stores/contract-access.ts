import { expect, test } from 'vitest'
import { type AccessChange, type AuditAction, type AuditFact, actionOf } from '../../src/model/access.ts'
import type { AuditQuery } from '../../src/stores/access.ts'
import type { SessionQuery, Store } from '../../src/stores/store.ts'
import { entries, sessionId, state } from './sqlite-parts.ts'

let facts = 0
export const factOf = (action: AuditAction, more: Partial<AuditFact> = {}): AuditFact => ({
  id: `00000000-0000-4000-8000-${String(++facts).padStart(12, '0')}`,
  action,
  principal: 'local',
  client: 'terminal',
  ...more,
})

const token = (name: string, more: object = {}): AccessChange => ({
  type: 'token.added',
  name,
  digest: `digest of ${name}`,
  roles: [],
  ...more,
})
const grant = (to: string, of: string): AccessChange => ({ type: 'grant.added', to, of })

/** What every store promises of tokens, grants and the audit trail. */
export function accessContract(open: () => Promise<Store>): void {
  const changed = (store: Store, change: AccessChange) =>
    store.access.change(change, factOf(actionOf(change), { details: { name: JSON.stringify(change) } }))
  const names = async (store: Store) => (await store.access.tokens()).map(({ name }) => name)
  const trail = async (store: Store, query: Partial<AuditQuery> = {}) =>
    (await store.access.audit({ order: 'oldest', limit: 100, ...query })).map(({ action }) => action)

  test('a token is added once by its name, and can be added again after it was removed', async () => {
    await using store = await open()
    expect(await changed(store, token('b', { roles: ['operator'] }))).toBe(true)
    expect(await changed(store, token('a'))).toBe(true)
    expect(await changed(store, token('a', { digest: 'another' }))).toBe(false)
    const [first, second] = await store.access.tokens()
    expect(first).toEqual({
      name: 'a',
      principal: 'a',
      digest: 'digest of a',
      roles: [],
      at: expect.any(Number),
      by: 'local',
    })
    expect(second).toMatchObject({ name: 'b', roles: ['operator'] })
    expect(await changed(store, { type: 'token.removed', name: 'a' })).toBe(true)
    expect(await changed(store, { type: 'token.removed', name: 'a' })).toBe(false)
    expect(await changed(store, { type: 'token.removed', name: 'c' })).toBe(false)
    expect(await names(store)).toEqual(['b'])
    expect(await changed(store, token('a', { onlyIfUnknown: true }))).toBe(false)
    expect(await changed(store, token('a', { digest: 'new' }))).toBe(true)
    expect((await store.access.tokens())[0]).toMatchObject({ name: 'a', digest: 'new' })
    const added = ['token.added', 'token.added', 'token.removed', 'token.added']
    expect(await trail(store)).toEqual(added)
  })

  test('of tokens with one name that are added together, one is', async () => {
    await using store = await open()
    const results = await Promise.all(
      ['a', 'b', 'c'].map((digest) => changed(store, token('ci', { digest }))),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await names(store)).toEqual(['ci'])
  })

  test('a login ends with the token that allowed it, and is added once', async () => {
    await using store = await open()
    const login = (digest: string, more: object = {}): AccessChange => ({
      ...{ type: 'login.added', principal: 'ann', login: 'laptop', roles: [], digest },
      ...more,
    })
    await changed(store, token('ann'))
    expect(await changed(store, login('1', { allowedBy: 'digest of ann' }))).toBe(true)
    expect(await changed(store, login('2', { principal: 'local', roles: ['operator'] }))).toBe(true)
    expect(await changed(store, login('2'))).toBe(false)
    const before = await store.access.tokens()
    expect(before.map(({ name }) => name)).toEqual(['ann', 'login:1', 'login:2'])
    expect(before[1]).toMatchObject({ principal: 'ann', login: 'laptop', digest: '1' })
    await changed(store, { type: 'token.removed', name: 'ann' })
    await changed(store, token('ann', { digest: 'new' }))
    expect(await names(store)).toEqual(['ann', 'login:2'])
    expect(await changed(store, { type: 'token.removed', name: 'login:2' })).toBe(true)
    expect(await changed(store, login('2'))).toBe(false)
    expect(await names(store)).toEqual(['ann'])
  })

  test('the lists of tokens and grants stay the same objects until one changes', async () => {
    await using store = await open()
    const lists = () => Promise.all([store.access.tokens(), store.access.grants()])
    const [tokens, grants] = await lists()
    const again = await lists()
    expect([again[0] === tokens, again[1] === grants]).toEqual([true, true])
    await changed(store, token('a'))
    expect((await lists())[0]).toHaveLength(1)
    await changed(store, grant('bot', 'a'))
    expect((await lists())[1]).toHaveLength(1)
  })

  test('sessions of several principals are listed together, newest first', async () => {
    await using store = await open()
    for (const [at, principal] of ['ann', 'bob', 'cid', 'ann'].entries()) {
      const id = sessionId(at + 1)
      await store.create(id, { entries: entries(id, 1, 1), record: { ...state(id), principal } })
    }
    const list = async (query: Omit<SessionQuery, 'limit'>, limit = 9) =>
      (await store.records({ ...query, limit })).map(({ id, principal }) => [principal, id])
    const [one, two, three, four] = [1, 2, 3, 4].map(sessionId)
    expect(await list({ principals: ['nobody', 'ann', 'bob'] })).toEqual([
      ['ann', four],
      ['bob', two],
      ['ann', one],
    ])
    expect(await list({ principals: ['ann', 'cid'], before: four ?? '' }, 1)).toEqual([['cid', three]])
    expect(await list({ principals: [] })).toEqual([])
  })

  test('an id is used once, in its time', async () => {
    await using store = await open()
    const now = await store.access.now()
    const valid = { from: now, until: now + 30_000 }
    const uses = await Promise.all(['a', 'a', 'a'].map((id) => store.access.consume(id, valid)))
    expect(uses.filter(Boolean)).toHaveLength(1)
    expect(await store.access.consume('a', valid)).toBe(false)
    expect(await store.access.consume('b', { from: now, until: now })).toBe(false)
    expect(await store.access.consume('c', { from: now + 60_000, until: now + 90_000 })).toBe(false)
    expect(await store.access.consume('b', valid)).toBe(true)
  })

  test('a grant is added and removed once', async () => {
    await using store = await open()
    expect(await changed(store, grant('bot', 'alice'))).toBe(true)
    expect(await changed(store, grant('bot', 'alice'))).toBe(false)
    expect(await changed(store, grant('bot', 'adam'))).toBe(true)
    expect(await store.access.grants()).toEqual([
      { to: 'bot', of: 'adam', at: expect.any(Number), by: 'local' },
      { to: 'bot', of: 'alice', at: expect.any(Number), by: 'local' },
    ])
    expect(await changed(store, { type: 'grant.removed', to: 'bot', of: 'adam' })).toBe(true)
    expect(await changed(store, { type: 'grant.removed', to: 'bot', of: 'adam' })).toBe(false)
    expect((await store.access.grants()).map(({ of }) => of)).toEqual(['alice'])
  })

  test('a fact is stored in the commit of its effect, or not at all', async () => {
    await using store = await open()
    const id = sessionId(1)
    const created = factOf('session.created', { session: id, details: { turn: 1 }, address: '::1' })
    await store.create(id, { entries: entries(id, 1, 2), record: state(id), facts: [created] })
    const refused = { entries: entries(id, 2, 3), facts: [factOf('prompt.sent')] }
    await expect(store.append(id, refused)).rejects.toMatchObject({ code: 'conflict' })
    await store.append(id, { entries: entries(id, 3, 3), facts: [factOf('prompt.sent', { session: id })] })
    expect(await trail(store)).toEqual(['session.created', 'prompt.sent'])
    const [first] = await store.access.audit({ order: 'oldest', limit: 1 })
    expect(first).toEqual({ ...created, at: expect.any(Number) })
    expect(Math.abs((first?.at ?? 0) - Date.now())).toBeLessThan(60_000)
  })

  test('facts outlive their session, and its deletion is one of them', async () => {
    await using store = await open()
    const id = sessionId(1)
    const facts = [factOf('session.created', { session: id })]
    await store.create(id, { entries: entries(id, 1, 1), record: state(id), facts })
    await store.delete(id, undefined, factOf('session.deleted', { session: id }))
    expect(await trail(store, { session: id })).toEqual(['session.created', 'session.deleted'])
  })

  test('the trail is read by principal, action, session and time, in pages of both orders', async () => {
    await using store = await open()
    await store.access.note(factOf('session.exported', { principal: 'alice', session: 's1' }))
    await store.access.note(factOf('session.exported', { principal: 'bob', session: 's2' }))
    await store.access.note(factOf('grant.added', { principal: 'alice' }))
    const read = (query: Partial<AuditQuery>) => store.access.audit({ order: 'oldest', limit: 10, ...query })
    const all = await read({})
    expect(all).toHaveLength(3)
    expect((await read({ principal: 'alice' })).map(({ id }) => id)).toEqual([all[0]?.id, all[2]?.id])
    expect(await read({ action: 'session.exported' })).toEqual(all.slice(0, 2))
    expect(await read({ session: 's2' })).toEqual([all[1]])
    expect(await read({ since: (all.at(-1)?.at ?? 0) + 1 })).toEqual([])
    expect(await read({ until: all[0]?.at ?? 0 })).toEqual([])
    for (const order of ['oldest', 'newest'] as const) {
      const whole = await store.access.audit({ order, limit: 10 })
      expect(whole).toEqual(order === 'oldest' ? all : all.toReversed())
      const [one] = await store.access.audit({ order, limit: 1 })
      expect(await store.access.audit({ order, limit: 10, ...(one && { after: one }) })).toEqual(
        whole.slice(1),
      )
    }
    expect(await read({ principal: 'nobody \u0000 \ud800' })).toEqual([])
  })

  test('a repeated fact is stored once, and old ones are forgotten', async () => {
    await using store = await open()
    const fact = factOf('session.exported')
    await store.access.note(fact)
    await store.access.forgetAudit(3_600_000)
    expect(await trail(store)).toEqual(['session.exported'])
    await store.access.forgetAudit(-60_000)
    expect(await trail(store)).toEqual([])
  })
}
