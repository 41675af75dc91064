import { expect, test } from 'vitest'
import type { Event } from '../../../src/model/index.ts'
import { stamp } from '../../../src/sessions/log/stamp.ts'
import { OpenWork, settlementOf } from '../../../src/sessions/recovery/recovery.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { decodeFixture, fixtures } from '../../agents/fixtures.ts'
import { violations } from '../../agents/invariants.ts'
import { asks, house, init, result, said } from '../house.ts'

test('a turn that was open when its owner went away is lost, and everything in it is settled', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  await session.prompt('two')
  const run = await before.driver.run()
  run.say(init, said('half'), asks('a'))
  await expect.poll(() => session.coverage.frames).toBe(3)

  const after = house(store)
  expect(await after.sessions.recover()).toBe(1)
  const entries = await store.read(session.id, 0, 100)
  expect(entries.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: 'turn.completed', turn: 1, outcome: 'lost' }),
  )
  expect(violations(entries)).toEqual([])
  expect(await store.record(session.id)).toMatchObject({ status: 'idle', requests: [], queue: [{ turn: 2 }] })
  const head = await store.head(session.id)
  await after.sessions.recover()
  expect(await store.head(session.id)).toBe(head)
})

test.each([
  ['had not answered', [], 1],
  ['had begun to answer', [said('half')], 0],
])('the loss of a prompt is reported if the agent %s', async (_name, lines, count) => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  const run = await before.driver.run()
  run.say(init, said('1'), result('1'))
  await session.settled(1)
  const frames = session.coverage.frames
  await session.prompt('two')
  run.say(...lines)
  await expect.poll(() => session.coverage.frames).toBe(frames + lines.length)

  const after = house(store)
  await after.sessions.recover()
  await after.sessions.recover()
  const events = (await store.read(session.id, 0, 100)).map(({ event }) => event)
  const lost = events.filter((event) => event.type === 'notice.raised' && event.code === 'context_lost')
  expect(lost).toHaveLength(count)
  expect(events.at(-1)).toMatchObject({ type: 'turn.completed', turn: 2, outcome: 'lost' })
})

test('the usage of a lost turn is what its model calls reported, marked partial, in the session and the account', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  const run = await before.driver.run()
  const usage = { input_tokens: 100, output_tokens: 25 }
  const message = { id: 'msg_1', model: 'm', content: [] }
  run.say(
    init,
    { type: 'stream_event', event: { type: 'message_start', message } },
    { type: 'stream_event', event: { type: 'message_delta', delta: {}, usage } },
    said('half'),
  )
  await expect.poll(() => session.coverage.frames).toBe(4)

  const after = house(store)
  await after.sessions.recover()
  const lost = { input: 100, output: 25, total: 125, partial: true }
  expect((await store.read(session.id, 0, 100)).at(-1)?.event).toMatchObject({
    type: 'turn.completed',
    outcome: 'lost',
    usage: lost,
  })
  expect(await store.record(session.id)).toMatchObject({ usage: lost })
  expect(await store.dailyUsage('local')).toMatchObject([
    { sessions: 1, turns: 0 },
    { model: 'm', turns: 1, usage: lost },
  ])
})

test('a queue is resumed after a restart, once, in the proven native session', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  const first = await before.driver.run()
  first.say(init, said('1'), result('1'))
  await session.settled(1)
  await session.prompt('two')
  await session.prompt('three')

  const after = house(store)
  await after.sessions.recover()
  await after.sessions.resumeQueues()
  const second = await after.driver.run()
  expect(second.launch).toMatchObject({ argv: expect.arrayContaining(['--resume=native-1']) })
  expect(second.context.runId).toBe(`${session.id}.3`)
  expect(second.input).toContain('three')
  const again = await after.sessions.open(session.id)
  second.say(init, result('3'))
  expect(await again.settled(3)).toMatchObject({ outcome: 'completed' })
  const outcomes = (await store.read(session.id, 0, 100)).flatMap(({ event }) =>
    event.type === 'turn.completed' ? [[event.turn, event.outcome]] : [],
  )
  expect(outcomes).toEqual([
    [1, 'completed'],
    [2, 'lost'],
    [3, 'completed'],
  ])
})

test('pictures of a prompt that waited come with it after a restart, and are not kept behind its turn', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  const long = `look ${'x'.repeat(10_000)} look`
  await session.prompt(long, [{ mimeType: 'image/png', data: 'UGljdHVyZQ==' }])

  const after = house(store)
  await after.sessions.recover()
  await after.sessions.resumeQueues()
  const run = await after.driver.run()
  await expect.poll(() => run.input).toContain(long)
  expect(run.input).toContain('UGljdHVyZQ==')
  expect(await store.record(session.id)).toMatchObject({ openTurn: 2, queue: [] })
})

test('a session can be opened again and continues where it was', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  const run = await before.driver.run()
  run.say(init, said('1'), result('1'))
  await session.settled(1)
  run.onStop = () => run.die({ code: 0 })
  void expect
    .poll(() => run.written)
    .toContainEqual({ kind: 'end' })
    .then(() => run.die({ code: 0 }))
  await before.sessions.drain()

  const after = house(store)
  const reopened = await after.sessions.open(session.id)
  expect(await reopened.prompt('two')).toBe(2)
  const seqs = (await store.read(session.id, 0, 100)).map(({ seq }) => seq)
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  await expect(after.sessions.open('00000000-0000-4000-8000-00000000dead')).rejects.toMatchObject({
    code: 'session_not_found',
  })
})

test.each(fixtures.filter(({ scenario }) => /tool|perm|sub|interrupt|abort/.test(scenario)))(
  '$name: cut anywhere by the loss of its owner, nothing stays open',
  (fixture) => {
    const { entries } = decodeFixture(fixture)
    for (let count = 1; count <= entries.length; count++) {
      // What comes of one frame is committed together.
      const frame = entries[count - 1]?.native
      if (frame !== undefined && frame === entries[count]?.native) continue
      const kept = entries.slice(0, count)
      const open = new OpenWork()
      for (const entry of kept) open.add(entry)
      const closed = new Set(kept.flatMap(({ event }) => (isClosed(event) ? event.requestId : [])))
      const opened = kept.flatMap(({ event }) => (event.type === 'request.opened' ? event : []))
      const requests = opened.filter(({ requestId }) => !closed.has(requestId))
      const { turn, events } = settlementOf(open, { requests }, 0)
      const session = kept[0]?.session ?? ''
      const added = events.map((event, index) => stamp(count + index + 1, session, turn, 0, event, undefined))
      expect({ count, found: violations([...kept, ...added]) }).toEqual({ count, found: [] })
    }
  },
)

function isClosed(event: Event): event is Extract<Event, { type: 'request.resolved' | 'request.withdrawn' }> {
  return event.type === 'request.resolved' || event.type === 'request.withdrawn'
}

test('the cut of long unfinished messages is reported with the number of characters', () => {
  const open = new OpenWork(8)
  const add = (event: Event) => open.add({ seq: 1, session: 's', at: 0, event })
  add({ type: 'text.delta', messageId: 'done', text: '1234' })
  add({ type: 'text.completed', messageId: 'done', text: '1234' })
  add({ type: 'text.delta', messageId: 'a', text: '12345' })
  add({ type: 'thinking.delta', messageId: 'b', text: '12345' })
  add({ type: 'thinking.delta', messageId: 'b', text: '6' })
  const { events } = settlementOf(open, { requests: [] }, 0)
  expect(events).toEqual([
    { type: 'text.completed', messageId: 'a', text: '12345', partial: true },
    { type: 'thinking.completed', messageId: 'b', text: '123', partial: true },
    expect.objectContaining({
      type: 'notice.raised',
      code: 'message_truncated',
      data: { messageId: 'b', dropped: 3 },
    }),
  ])
})

test('raw frames are numbered on where the owner before stopped', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  const run = await before.driver.run()
  run.say(init, said('1'), result('1'))
  await session.settled(1)

  const after = house(store)
  const reopened = await after.sessions.open(session.id)
  await reopened.prompt('two')
  const second = await after.driver.run()
  second.say(init, result('2'))
  await reopened.settled(2)
  const frames = (await store.readJournal(session.id, 0, 100)).map(({ frame }) => frame)
  expect(frames).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
})

test('the number of a frame that went into a blob is not given to another', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  const run = await before.driver.run()
  run.say(init, result('1'))
  await session.settled(1)
  const writer = store.blobs.open()
  writer.write(Uint8Array.of(1))
  run.sayTooMuch(await writer.close())
  await expect.poll(() => before.types(session)).toContain('native.unmapped')

  const after = house(store)
  const reopened = await after.sessions.open(session.id)
  await reopened.prompt('two')
  const second = await after.driver.run()
  second.say(init, result('2'))
  await reopened.settled(2)
  const oversized = (await after.log(session)).find(({ event }) => event.type === 'native.unmapped')
  const frames = (await store.readJournal(session.id, 0, 100)).map(({ frame }) => frame)
  // Frame 1 to 3 are the start, the handshake and the prompt.
  expect(oversized?.native).toBe(6)
  expect(frames).toEqual([1, 2, 3, 4, 5, 7, 8, 9, 10, 11])
})

test('processes of the owner before are ended before the log says that their turn is lost', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')

  const heads: number[] = []
  const head = await store.head(session.id)
  const after = house(store, { sweep: async () => void heads.push(await store.head(session.id)) })
  await after.sessions.recover()
  expect(heads).toEqual([head])
  expect(await store.head(session.id)).toBeGreaterThan(head)
})

test('ending a session before its queue is resumed ends its queued turns, once', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  await session.prompt('two')

  const after = house(store)
  await after.sessions.recover()
  const heir = await after.sessions.open(session.id)
  await heir.end()
  await after.sessions.resumeQueues()
  const entries = await store.read(session.id, 0, 100)
  const ends = entries.flatMap(({ event }) =>
    event.type === 'turn.completed' ? [[event.turn, event.outcome]] : [],
  )
  expect(ends).toEqual([
    [1, 'lost'],
    [2, 'interrupted'],
  ])
})

test('a prompt that arrives before the queue is resumed is queued last', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('one')
  await session.prompt('two')

  const after = house(store)
  await after.sessions.recover()
  const heir = await after.sessions.open(session.id)
  expect(await heir.prompt('three')).toBe(3)
  await after.sessions.resumeQueues()
  const started = (await store.read(session.id, 0, 100)).flatMap(({ event }) =>
    event.type === 'turn.started' ? [event.turn] : [],
  )
  expect(started).toEqual([1, 2])
  expect(await store.record(session.id)).toMatchObject({ openTurn: 2, queue: [{ turn: 3 }] })
})

test('a session whose log was trimmed is recovered from what is kept, and opens again', async () => {
  const store = memoryStore()
  const before = house(store)
  const session = await before.open()
  await session.prompt('go')
  const run = await before.driver.run()
  run.say(init, asks('r1'))
  await expect.poll(async () => (await store.record(session.id))?.requests.length).toBe(1)
  const { head = 0 } = (await store.record(session.id)) ?? {}
  await before.sessions.trim(session.id, head - 1)
  const after = house(store)
  await after.sessions.recover()
  const kept = (await store.read(session.id, head, 100)).map(({ event }) => event)
  expect(kept).toMatchObject([
    { type: 'request.withdrawn' },
    { type: 'turn.completed', turn: 1, outcome: 'lost' },
  ])
  expect(await (await after.sessions.open(session.id)).prompt('again')).toBe(2)
})

test('recovery reads the list of records once', async () => {
  const store = memoryStore()
  const before = house(store)
  for (let n = 0; n < 3; n++) {
    const session = await before.open()
    await session.prompt('go')
    await session.prompt('waits')
  }
  let lists = 0
  const records = store.records.bind(store)
  store.records = (query) => {
    if (query.before === undefined) lists++
    return records(query)
  }
  const after = house(store)
  expect(await after.sessions.recover()).toBe(3)
  await after.sessions.resumeQueues()
  expect(lists).toBe(1)
  expect(after.driver.runs).toHaveLength(3)
})
