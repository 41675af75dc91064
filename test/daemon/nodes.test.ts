import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LiveEntry } from '../../src/client/index.ts'
import type { Entry } from '../../src/model/index.ts'
import { isAlive, killLeft } from '../drivers/fake-run.ts'
import { newSchema } from '../postgres/database.ts'
import { LEASE_MS, NodeProcess } from './node-process.ts'

interface Life {
  event: 'started' | 'stopped' | 'prompt' | 'answered'
  pid: number
  at: number
  prompt?: string
}

let home = ''
let nodes: NodeProcess[] = []

const lives = (): Life[] => {
  const file = join(home, 'lives')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
const prompted = (prompt: string) => lives().find((life) => life.event === 'prompt' && life.prompt === prompt)

async function start(): Promise<readonly [NodeProcess, NodeProcess, NodeProcess]> {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'nodes-')))
  const store = await newSchema()
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => NodeProcess.start(name, home, store)))
  if (!a || !b || !c) throw new Error('three nodes are needed')
  nodes = [a, b, c]
  return [a, b, c]
}

async function stop(): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill()))
  killLeft(lives().flatMap(({ pid }) => (isAlive(pid) ? [pid] : [])))
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}

const entriesOf = async (node: NodeProcess, id: string): Promise<readonly Entry[]> =>
  (await node.client.page(id, { after: 0 })).entries ?? []
const outcomes = async (node: NodeProcess, id: string) =>
  (await entriesOf(node, id)).flatMap(({ event }) => (event.type === 'turn.completed' ? [event] : []))

describe('three servers on one PostgreSQL', () => {
  let a: NodeProcess
  let b: NodeProcess
  let c: NodeProcess
  beforeAll(async () => {
    ;[a, b, c] = await start()
  })
  afterAll(stop)

  test('list each other', async () => {
    const list = await b.client.nodes()
    expect(list.map(({ name, state, self }) => [name, state, self])).toEqual([
      ['a', 'ready', false],
      ['b', 'ready', true],
      ['c', 'ready', false],
    ])
  })

  test('a session of one is prompted, followed, answered and interrupted at the others', async () => {
    const { id } = await a.client.begin({ agent: 'claude' })
    expect(await a.client.session(id)).toMatchObject({ node: 'a' })
    const shown: Entry[] = []
    const following = (async () => {
      for await (const entry of c.client.entries(id)) shown.push(entry)
    })()
    expect(await b.client.prompt(id, 'ask something')).toBe(1)
    await expect.poll(async () => (await c.client.requests()).length).toBe(1)
    const [open] = await c.client.requests()
    const { requestId = '', inputDigest = '' } = open?.request ?? {}
    await c.client.answer(id, requestId, { decision: 'allow', inputDigest })
    await expect.poll(async () => (await outcomes(b, id)).length).toBe(1)
    await b.client.prompt(id, 'wait for it')
    await expect.poll(() => prompted('wait for it')).toBeDefined()
    await c.client.interrupt(id)
    expect((await outcomes(c, id)).map(({ outcome }) => outcome)).toEqual(['completed', 'interrupted'])
    await b.client.end(id)
    await following
    expect(shown).toEqual(await entriesOf(a, id))
    expect(shown.map(({ seq }) => seq)).toEqual(shown.map((_, index) => index + 1))
  })

  test('the stream of all sessions has those of every server, and its cursors are valid on each', async () => {
    const left = new AbortController()
    const opened = Promise.withResolvers<void>()
    const shown: LiveEntry[] = []
    const following = (async () => {
      const live = b.client.live({
        signal: left.signal,
        onConnection: (now) => now === 'open' && opened.resolve(),
      })
      for await (const entry of live) shown.push(entry)
    })().catch(() => undefined)
    await opened.promise
    const ids = await Promise.all(
      [a, b, c].map(async ({ client }) => (await client.begin({ agent: 'claude', prompt: 'all' })).id),
    )
    await expect.poll(async () => (await Promise.all(ids.map((id) => outcomes(b, id)))).flat().length).toBe(3)
    const logs = await Promise.all(ids.map((id) => entriesOf(b, id)))
    await expect.poll(() => shown.length).toBe(logs.flat().length)
    for (const log of logs) {
      expect(shown.filter(({ session }) => session === log[0]?.session).map(({ seq }) => seq)).toEqual(
        log.map(({ seq }) => seq),
      )
    }
    left.abort()
    await following
    const rest: LiveEntry[] = []
    for await (const entry of c.client.live({ after: shown[4]?.cursor ?? '' })) {
      rest.push(entry)
      if (rest.length === shown.length - 5) break
    }
    expect(rest).toEqual(shown.slice(5))
  })

  test('one key at three servers at once makes one session and one turn', async () => {
    const made = await Promise.allSettled(
      [a, b, c].map((node) => node.client.begin({ agent: 'claude', prompt: 'once' }, 'same')),
    )
    const ids = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []))
    expect(new Set(ids).size).toBe(1)
    await expect.poll(async () => (await outcomes(a, ids[0] ?? '')).length).toBe(1)
    expect(lives().filter(({ prompt }) => prompt === 'once')).toHaveLength(1)
  })
})

test('a server that was killed continues its turn as soon as it is started again, and runs what waited', async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'nodes-')))
  const store = await newSchema()
  const options = { leaseMs: 600_000 }
  const before = await NodeProcess.start('a', home, store, options)
  nodes = [before]
  try {
    const { id } = await before.client.begin({ agent: 'claude', prompt: 'wait here' })
    await before.client.prompt(id, 'next one')
    await expect.poll(() => prompted('wait here')).toBeDefined()
    await before.kill()
    const after = await NodeProcess.start('a', home, store, options)
    nodes.push(after)
    expect(isAlive(prompted('wait here')?.pid ?? 0)).toBe(true)
    await after.client.interrupt(id)
    await expect
      .poll(async () => (await outcomes(after, id)).map(({ outcome }) => outcome))
      .toEqual(['interrupted', 'completed'])
  } finally {
    await stop()
  }
})

describe('a server that goes away', () => {
  let a: NodeProcess
  let b: NodeProcess
  beforeEach(async () => {
    ;[a, b] = await start()
  })
  afterEach(stop)

  /** A session of the first server with a turn that runs and one that waits. */
  async function busy(): Promise<string> {
    const { id } = await a.client.begin({ agent: 'claude', prompt: 'wait here' })
    await b.client.prompt(id, 'next one')
    await expect.poll(() => prompted('wait here')).toBeDefined()
    return id
  }

  /** The agent of the first server was gone before the next one began. */
  function expectHandover(): void {
    const [before, after] = lives().filter(({ event }) => event === 'started')
    expect(isAlive(before?.pid ?? 0)).toBe(false)
    const stopped = lives().find(({ event, pid }) => event === 'stopped' && pid === before?.pid)
    if (stopped) expect(stopped.at).toBeLessThanOrEqual(after?.at ?? 0)
  }

  test('killed: its turn is lost with its node, and its queue runs elsewhere within the lease and 2 s', async () => {
    const id = await busy()
    const killed = Date.now()
    await a.kill()
    await expect.poll(async () => (await outcomes(b, id)).length).toBeGreaterThan(0)
    const lost = (await entriesOf(b, id)).find(({ event }) => event.type === 'turn.completed')
    expect((lost?.at ?? 0) - killed).toBeLessThanOrEqual(LEASE_MS + 2_000)
    await expect.poll(async () => (await outcomes(b, id)).length).toBe(2)
    expect(await outcomes(b, id)).toMatchObject([
      { turn: 1, outcome: 'lost', error: { code: 'node_lost' } },
      { turn: 2, outcome: 'completed' },
    ])
    expectHandover()
    expect((await b.client.nodes()).find(({ name }) => name === 'a')?.state).toBe('lost')
  })

  test('suspended: its agent ends before another server begins, and it works again when it wakes', async () => {
    const id = await busy()
    a.signal('SIGSTOP')
    await expect.poll(() => prompted('next one')).toBeDefined()
    expectHandover()
    await expect.poll(async () => (await outcomes(b, id)).length).toBe(2)
    a.signal('SIGCONT')
    await expect
      .poll(async () => (await outcomes(a, id)).map(({ outcome }) => outcome))
      .toEqual(['lost', 'completed'])
    await expect
      .poll(async () => (await b.client.nodes()).find(({ name }) => name === 'a')?.state)
      .toBe('ready')
    const turn = await a.client.prompt(id, 'after all')
    await expect.poll(async () => (await outcomes(b, id)).map((one) => one.turn)).toEqual([1, 2, turn])
  })

  test('stopped in order: what waits runs elsewhere at once', async () => {
    const id = await busy()
    a.signal('SIGTERM')
    await expect.poll(() => prompted('next one')).toBeDefined()
    expectHandover()
    await expect
      .poll(async () => (await outcomes(b, id)).map(({ outcome }) => outcome))
      .toEqual(['interrupted', 'completed'])
    await expect.poll(async () => (await b.client.nodes()).map(({ name }) => name)).toEqual(['b', 'c'])
  })
})
