import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dialects } from '../../../src/dialects/index.ts'
import type { Entry, Policy } from '../../../src/model/index.ts'
import type { NewSession } from '../../../src/model/session/new-session.ts'
import type { Session } from '../../../src/sessions/session.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import type { Store } from '../../../src/stores/store.ts'
import { asks, house, init } from '../house.ts'
import { ownedStore } from '../simulation/simulation-store.ts'
import { bound } from './bound-answer.ts'

type House = ReturnType<typeof house>

/** A session whose agent asks, on a store that can be opened again. */
interface Asking {
  house: House
  session: Session
  refuse(): void
  /** Ends the owner without a word, and opens the store as the next process would. */
  kill(): Promise<Store>
}

interface Path {
  policy?: Partial<Policy>
  more?: Partial<NewSession>
  /** What happens instead of an answer; the store that has the log then, where that is another one. */
  happens(asking: Asking): Promise<Store | undefined>
}

const STORES: Record<string, () => Promise<{ store: Store; reopen(): Promise<Store> }>> = {
  async memory() {
    const store = memoryStore()
    return { store, reopen: async () => store }
  },
  async sqlite() {
    const directory = mkdtempSync(join(tmpdir(), 'never-approved-'))
    const store = await sqliteStore({ directory })
    return {
      store,
      async reopen() {
        await store[Symbol.asyncDispose]()
        return sqliteStore({ directory })
      },
    }
  },
}

/** Every way in which a request can end without a decision of a person. */
const PATHS: Record<string, Path> = {
  'the server is killed and recovers': {
    async happens({ kill }) {
      const store = await kill()
      await house(store).sessions.recover()
      return store
    },
  },
  'the server is killed, recovers twice and works on': {
    async happens({ session, kill }) {
      const store = await kill()
      const next = house(store)
      await next.sessions.recover()
      await next.sessions.recover()
      await (await next.sessions.open(session.id)).prompt('next')
      const run = await next.driver.run()
      await expect.poll(() => run.input).toContain('next')
      expect(run.input).not.toContain('"allow"')
      await passingTime(next, next.sessions.drain())
      return store
    },
  },
  'the server drains': { happens: ({ house }) => passingTime(house, house.sessions.drain()) },
  'the session ends': { happens: ({ house, session }) => passingTime(house, house.sessions.end(session.id)) },
  'the turn is interrupted': { happens: ({ house, session }) => passingTime(house, session.interrupt()) },
  'the turn reaches its time limit': {
    policy: { timeoutMs: 1_000 },
    async happens({ house: { time }, session }) {
      for (let passed = 0; passed < 60; passed++) await time.pass(1_000)
      await session.settled(1)
      return undefined
    },
  },
  'the process of the agent exits': {
    async happens({ house: { driver }, session }) {
      ;(await driver.run()).die({ code: 1 })
      await session.settled(1)
      return undefined
    },
  },
  'no client is there to answer': {
    more: { attended: false },
    happens: async ({ house: { driver } }) => {
      const run = await driver.run()
      await expect.poll(() => run.input).toContain('"deny"')
      return undefined
    },
  },
  'storage fails and recovers': {
    async happens({ house: { driver, time, sessions }, session, refuse }) {
      refuse()
      ;(await driver.run()).say(init)
      for (let passed = 0; passed < 10; passed++) await time.pass(1_000)
      await expect.poll(async () => (await sessions.record(session.id))?.requests).toEqual([])
      return undefined
    },
  },
}

describe.each(Object.entries(STORES))('on the %s store an open request is never approved when', (_, open) => {
  test.each(Object.entries(PATHS))('%s', async (_name, { policy = {}, more = {}, happens }) => {
    const { store, reopen } = await open()
    const owned = ownedStore(store, 1)
    const first = house(owned.store)
    const session = await first.open(policy, more)
    await session.prompt('go')
    const run = await first.driver.run()
    run.say(init, asks('ask-1'))
    await expect.poll(async () => typesOf(await store.read(session.id, 0, 100))).toContain('request.opened')
    const kill = () => {
      owned.kill()
      return reopen()
    }
    const last =
      (await happens({ house: first, session, kill, refuse: () => owned.refuse(session.id) })) ?? store
    const entries = await last.read(session.id, 0, 100)
    expect(entries.filter(({ event }) => isApproval(event))).toEqual([])
    expect(run.input).not.toContain('"allow"')
    for (const dialect of dialects.keys())
      expect([dialect, approvalsIn(dialect, entries)]).toEqual([dialect, []])
    await last[Symbol.asyncDispose]()
  })
})

test('an approval of a person is seen in the log, by the agent and in a dialect', async () => {
  const { open, driver, store } = house()
  const session = await open()
  await session.prompt('go')
  const run = await driver.run()
  run.say(init, asks('ask-1'))
  await expect.poll(async () => typesOf(await store.read(session.id, 0, 100))).toContain('request.opened')
  await session.answer(
    await bound(store, session.id, { type: 'answer', requestId: 'e1.ask-1', decision: 'allow' }),
  )
  const entries = await store.read(session.id, 0, 100)
  expect(entries.filter(({ event }) => isApproval(event))).toHaveLength(1)
  expect(run.input).toContain('"allow"')
  expect(approvalsIn('mainstem', entries)).toHaveLength(1)
})

/** Lets simulated time pass until the work is done. */
async function passingTime({ time }: House, work: Promise<void>): Promise<undefined> {
  let over = false
  const ended = () => {
    over = true
  }
  void work.then(ended, ended)
  while (!over) await time.pass(500)
  await work
  return undefined
}

function typesOf(entries: readonly Entry[]): string[] {
  return entries.map(({ event }) => event.type)
}

function isApproval(event: Entry['event']): boolean {
  return event.type === 'request.resolved' && event.decision !== 'deny'
}

/** The messages after the request that speak of an approval; the request itself offers one. */
function approvalsIn(id: string, entries: readonly Entry[]): unknown[] {
  const dialect = dialects.get(id)
  const state = dialect?.initial({})
  const opened = typesOf(entries).indexOf('request.opened')
  return entries.flatMap((entry, index) => {
    const messages = dialect?.project(state, entry) ?? []
    return index > opened
      ? messages.filter((message) => /"(allow|approve|accept|grant)/i.test(JSON.stringify(message)))
      : []
  })
}
