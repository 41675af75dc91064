import { describe, expect, test } from 'vitest'
import type { NodeCommand, NodeInfo, NodeStore } from '../../src/stores/nodes.ts'
import type { Batch, Store } from '../../src/stores/store.ts'
import { entries, sessionId, state } from './sqlite-parts.ts'

/** A store for several servers, and a way to let its clock pass. */
export interface SharedStore extends AsyncDisposable {
  store: Store & { readonly nodes: NodeStore }
  pass(ms: number): Promise<void>
}

const TTL = 30_000
const never = new AbortController().signal
const info = (more: Partial<NodeInfo> = {}): NodeInfo => ({
  version: '1.0.0',
  labels: ['gpu'],
  roots: ['/srv'],
  processes: 1,
  maxProcesses: 4,
  draining: false,
  ...more,
})
const command = (id: string, node = 'a', more: Partial<NodeCommand> = {}): NodeCommand => ({
  id,
  node,
  urgent: false,
  body: `body of ${id}\u0000"`,
  ...more,
})
const began = (id: string, more: Partial<Batch> = {}, record: Parameters<typeof state>[1] = {}): Batch => ({
  entries: entries(id, 1, 2),
  record: state(id, record),
  ...more,
})

/** What every store for several servers promises about nodes and their commands. */
export function nodeContract(name: string, open: () => Promise<SharedStore>): void {
  describe(`nodes on the ${name} store`, () => {
    registration(open)
    ownership(open)
    commands(open)
    outcomes(open)
    commits(open)
  })
}

function registration(open: () => Promise<SharedStore>): void {
  test('lists nodes with their last registration, and as not live once it expires', async () => {
    await using shared = await open()
    const { nodes } = shared.store
    await nodes.register('b', 'p1', info({ url: 'http://b' }), TTL)
    await nodes.register('a', 'p2', info(), TTL)
    await shared.pass(TTL / 2)
    await nodes.register('a', 'p2', info({ draining: true, processes: 3 }), TTL)
    const [a, b] = await nodes.list()
    expect(a).toMatchObject({ ...info({ draining: true, processes: 3 }), name: 'a', live: true })
    expect(b).toMatchObject({ name: 'b', url: 'http://b', live: true })
    expect(b?.seenMs).toBeGreaterThanOrEqual(TTL / 2)
    await shared.pass(TTL / 2)
    expect((await nodes.list()).map(({ live }) => live)).toEqual([true, false])
  })

  test('refuses a name that another live process has, and gives it once that one is gone', async () => {
    await using shared = await open()
    const { nodes } = shared.store
    await nodes.register('a', 'p1', info(), TTL)
    await expect(nodes.register('a', 'p2', info(), TTL)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('"a"'),
    })
    await shared.pass(TTL)
    await nodes.register('a', 'p2', info(), TTL)
    await expect(nodes.register('a', 'p1', info(), TTL)).rejects.toMatchObject({ code: 'conflict' })
    await nodes.leave('a', 'p1')
    expect(await nodes.list()).toHaveLength(1)
    await nodes.leave('a', 'p2')
    expect(await nodes.list()).toEqual([])
    await nodes.register('a', 'p3', info(), TTL)
  })

  test('of two processes that register one name at the same time, one is refused', async () => {
    await using shared = await open()
    const { nodes } = shared.store
    const both = await Promise.allSettled(['p1', 'p2'].map((p) => nodes.register('a', p, info(), TTL)))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
}

function ownership(open: () => Promise<SharedStore>): void {
  test('knows the owner of a session until its lease ends', async () => {
    await using shared = await open()
    const { store } = shared
    const [first, second] = [sessionId(1), sessionId(2)]
    await store.create(first, began(first), undefined, { owner: 'a', ttlMs: TTL })
    await store.create(second, began(second))
    expect(await store.nodes.ownerOf(first)).toBe('a')
    expect(await store.nodes.ownerOf(second)).toBeUndefined()
    expect(await store.nodes.ownerOf(sessionId(3))).toBeUndefined()
    await shared.pass(TTL)
    expect(await store.nodes.ownerOf(first)).toBeUndefined()
    await store.acquire(first, 'b', TTL)
    expect(await store.nodes.ownerOf(first)).toBe('b')
    await store.release('b')
    expect(await store.nodes.ownerOf(first)).toBeUndefined()
  })

  test('finds the sessions that an owner left open, with a queue or with a task that is over, once its lease has ended', async () => {
    await using shared = await open()
    const { store } = shared
    const terms = { owner: 'a', ttlMs: TTL }
    const ids = [1, 2, 3, 4, 5, 6].map(sessionId)
    const [idle = '', busy = '', queued = '', ended = '', task = '', done = ''] = ids
    await store.create(idle, began(idle), undefined, terms)
    await store.create(busy, began(busy, {}, { status: 'busy', openTurn: 1 }), undefined, terms)
    await store.create(queued, began(queued, { queued: [{ turn: 1, prompt: 'p' }] }), undefined, terms)
    await store.create(ended, began(ended, { release: true }, { status: 'ended' }), undefined, terms)
    await store.create(task, began(task, {}, { single: true }), undefined, terms)
    await store.create(done, began(done, {}, { single: true, status: 'ended' }), undefined, terms)
    expect(await store.nodes.orphans(10)).toEqual([])
    await shared.pass(TTL)
    expect(await store.nodes.orphans(10)).toEqual([busy, queued, task])
    expect(await store.nodes.orphans(1)).toEqual([busy])
    await store.acquire(busy, 'b', TTL)
    expect(await store.nodes.orphans(10)).toEqual([queued, task])
    const { fence } = await store.acquire(task, 'b', 1)
    await shared.pass(1)
    const end = { record: state(task, { single: true, status: 'ended' }), entries: entries(task, 3, 3) }
    await store.append(task, end, fence)
    expect(await store.nodes.orphans(10)).toEqual([queued])
  })
}

function commands(open: () => Promise<SharedStore>): void {
  test('hands out commands in order, urgent ones first, and only to their node', async () => {
    await using shared = await open()
    const { nodes } = shared.store
    for (const id of ['1', '2']) await nodes.send(command(id), TTL)
    await nodes.send(command('3', 'a', { urgent: true }), TTL)
    await nodes.send(command('4', 'b'), TTL)
    expect(await nodes.pending('a', [])).toEqual([
      command('3', 'a', { urgent: true }),
      command('1'),
      command('2'),
    ])
    expect((await nodes.pending('a', ['1', '3'])).map(({ id }) => id)).toEqual(['2'])
    expect((await nodes.pending('b', [])).map(({ id }) => id)).toEqual(['4'])
  })

  test('a command that is sent again goes to the other node alone', async () => {
    await using shared = await open()
    const { nodes } = shared.store
    await nodes.send(command('1', 'a'), TTL)
    await nodes.settle('1', 'a', 'moved')
    await nodes.send(command('1', 'b'), TTL)
    expect(await nodes.pending('a', [])).toEqual([])
    expect(await nodes.pending('b', [])).toEqual([command('1', 'b')])
    expect(await nodes.outcome('1', AbortSignal.abort())).toBeUndefined()
    // Late, from the node that does not have it any more.
    await nodes.settle('1', 'a', 'late')
    expect(await nodes.pending('b', [])).toHaveLength(1)
    await nodes.settle('1', 'b', 'done')
    expect(await nodes.outcome('1', never)).toBe('done')
  })

  test('a command is not handed out after its time, nor after its outcome', async () => {
    await using shared = await open()
    const { nodes } = shared.store
    await nodes.send(command('1'), TTL)
    await nodes.send(command('2'), 10 * TTL)
    await nodes.settle('2', 'a', 'done')
    expect((await nodes.pending('a', [])).map(({ id }) => id)).toEqual(['1'])
    await shared.pass(TTL)
    expect(await nodes.pending('a', [])).toEqual([])
  })

  test('a node that waits is woken by a command for it', async () => {
    await using shared = await open()
    const { nodes } = shared.store
    const waiting = nodes.arrived('a', never)
    await nodes.send(command('1', 'a'), TTL)
    await waiting
    const left = new AbortController()
    const other = nodes.arrived('b', left.signal)
    left.abort()
    await other
  })
}

function outcomes(open: () => Promise<SharedStore>): void {
  test('a sender gets the first outcome, also when it asks before there is one', async () => {
    await using shared = await open()
    const { nodes } = shared.store
    await nodes.send(command('1'), TTL)
    const early = nodes.outcome('1', never)
    await nodes.settle('1', 'a', 'first \u0000')
    await nodes.settle('1', 'a', 'second')
    expect(await early).toBe('first \u0000')
    expect(await nodes.outcome('1', never)).toBe('first \u0000')
  })

  test('a sender that gives up gets nothing', async () => {
    await using shared = await open()
    const { nodes } = shared.store
    await nodes.send(command('1'), TTL)
    const left = new AbortController()
    const waiting = nodes.outcome('1', left.signal)
    left.abort()
    expect(await waiting).toBeUndefined()
    await nodes.settle('unknown', 'a', 'x')
    expect(await nodes.outcome('unknown', AbortSignal.abort())).toBeUndefined()
  })
}

/** Reads all entries after a position, as `session:seq`, and the position after each. */
async function follow({ nodes }: Store & { readonly nodes: NodeStore }, from: string) {
  const read: { entry: string; position: string }[] = []
  let position = from
  for (;;) {
    const found = await nodes.commits.after(position)
    if (found.length === 0) return read
    for (const { session, seq, count, read: skipped, position: at } of found) {
      for (let offset = skipped; offset < count; offset++) {
        position = `${at}.${offset + 1}`
        read.push({ entry: `${session}:${seq + offset}`, position })
      }
    }
  }
}

function commits(open: () => Promise<SharedStore>): void {
  test('a reader gets the commits of a principal, and the last one of all', async () => {
    await using shared = await open()
    const { store } = shared
    const { commits } = store.nodes
    const start = await commits.head()
    const ids = Array.from({ length: 12 }, (_, index) => sessionId(index + 1))
    for (const [index, id] of ids.entries())
      await store.create(id, began(id, {}, { principal: index % 4 === 0 ? 'ann' : 'ben' }))
    await expect.poll(async () => (await commits.after(start)).length, { timeout: 10_000 }).toBe(12)
    const sessionsOf = async (principal: string, from = start) =>
      (await commits.after(from, { principal })).map(({ session }) => ids.indexOf(session))
    expect(await sessionsOf('ann')).toEqual([0, 4, 8, 11])
    expect(await sessionsOf('carl')).toEqual([11])
    expect(await sessionsOf('ben')).toEqual([1, 2, 3, 5, 6, 7, 9, 10, 11])
    const last = (await commits.after(start)).at(-1)
    expect(await sessionsOf('ann', `${last?.position}.${last?.count}`)).toEqual([])
  })

  test('commits have one order, and a reader can continue after each entry', async () => {
    await using shared = await open()
    const { store } = shared
    const { commits } = store.nodes
    expect(await commits.epoch()).toMatch(/^[0-9a-f]{8}$/)
    const [first, second] = [sessionId(1), sessionId(2)]
    const start = await commits.head()
    expect(await commits.after(start)).toEqual([])
    await store.create(first, began(first))
    await store.create(second, began(second))
    await store.append(first, { entries: entries(first, 3, 5) })
    await store.append(second, { entries: [], record: state(second) })
    await expect.poll(async () => (await follow(store, start)).length).toBe(7)
    const all = await follow(store, start)
    const expected = [`${first}:1`, `${first}:2`, `${second}:1`, `${second}:2`]
    expect(all.map(({ entry }) => entry)).toEqual([...expected, ...[3, 4, 5].map((seq) => `${first}:${seq}`)])
    for (const [index, { position }] of all.entries()) {
      expect(await follow(store, position)).toEqual(all.slice(index + 1))
      expect(await commits.isBeyondHead(position)).toBe(false)
    }
    expect(await follow(store, await commits.head())).toEqual([])
  })

  test('of commits at the same time, a reader sees each once, those of a session in their order', async () => {
    await using shared = await open()
    const { store } = shared
    const start = await store.nodes.commits.head()
    const ids = Array.from({ length: 8 }, (_, index) => sessionId(index))
    const seen: string[] = []
    let position = start
    const left = new AbortController()
    const reading = (async () => {
      while (!left.signal.aborted) {
        const more = await follow(store, position)
        for (const { entry } of more) seen.push(entry)
        position = more.at(-1)?.position ?? position
      }
    })()
    await Promise.all(
      ids.map(async (id) => {
        await store.create(id, began(id))
        for (let seq = 3; seq <= 20; seq++) await store.append(id, { entries: entries(id, seq, seq) })
      }),
    )
    await expect.poll(() => seen.length).toBe(ids.length * 20)
    left.abort()
    await reading
    for (const id of ids) {
      const own = seen.filter((entry) => entry.startsWith(id))
      expect(own).toEqual(Array.from({ length: 20 }, (_, index) => `${id}:${index + 1}`))
    }
  })

  test('a reader that waits is woken by a commit', async () => {
    await using shared = await open()
    const { store } = shared
    const woken = store.nodes.commits.changed(never)
    await store.create(sessionId(1), began(sessionId(1)))
    await woken
  })
}
