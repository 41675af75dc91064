import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { mainstem, type SessionRequest } from '../../src/library/mainstem.ts'
import type { AgentSession } from '../../src/library/session.ts'
import type { Entry } from '../../src/model/index.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const TURN = ['turn.started', 'text.completed', 'turn.completed']

async function open(more: Partial<SessionRequest> = {}): Promise<AgentSession> {
  const stem = mainstem()
  onTestFinished(() => stem[Symbol.asyncDispose]())
  return stem.session({ agent: 'echo', cwd: '/', keep: 'unread', ...more })
}

async function typesOf(reading: AsyncIterable<Entry>): Promise<string[]> {
  return (await Array.fromAsync(reading)).map(({ event }) => event.type)
}

/** The first entry that is kept. */
async function earliestOf(session: AgentSession): Promise<number> {
  const reading = session.entries({ after: 0 })
  try {
    const { value } = await reading.next()
    return value ? value.seq : 0
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'cursor_gone' })
    return Number(Reflect.get(Object(Reflect.get(Object(thrown), 'details')), 'earliest'))
  } finally {
    await reading.return?.()
  }
}

test('all entries are kept by default', async () => {
  const session = await open({ keep: 'all' })
  const turn = session.prompt('hello')
  expect(await typesOf(turn)).toEqual(TURN)
  expect(await typesOf(turn)).toEqual(TURN)
  expect(await earliestOf(session)).toBe(1)
})

test('another value of keep is refused', async () => {
  const keep = JSON.parse('"some"')
  await expect(open({ keep })).rejects.toMatchObject({ code: 'invalid_request' })
})

test('entries that were read are evicted after each turn', async () => {
  const session = await open()
  for (let turn = 1; turn <= 20; turn++) {
    expect(await typesOf(session.prompt(`hello ${turn}`))).toEqual(TURN)
    // The last entry stays, so that its number is not used again.
    expect(await earliestOf(session)).toBe(1 + 3 * turn)
  }
})

test('a turn can be read once, and its result before and after that', async () => {
  const session = await open()
  const turn = session.prompt('hello')
  const early = turn.result()
  expect(await typesOf(turn)).toEqual(TURN)
  expect([(await early).text, (await turn.result()).text]).toEqual(['hello', 'hello'])
  await expect(typesOf(turn)).rejects.toMatchObject({ code: 'cursor_gone', details: { earliest: 5 } })
})

test('a turn of which only the result was read is evicted when the next turn ends', async () => {
  const session = await open()
  const turn = session.prompt('hello')
  expect(await turn.result()).toMatchObject({ outcome: 'completed', text: 'hello' })
  await expect(typesOf(turn)).rejects.toMatchObject({ code: 'cursor_gone' })
  await session.prompt('again').result()
  expect(await earliestOf(session)).toBe(5)
})

test('queued turns keep all their entries while earlier turns are read', async () => {
  const session = await open()
  const [first, second, third] = [session.prompt('a'), session.prompt('b'), session.prompt('c')]
  await third.result()
  expect(await typesOf(second)).toEqual(['turn.queued', ...TURN])
  expect(await typesOf(first)).toEqual(TURN)
})

test('an entry stays until every subscriber has read it', async () => {
  const session = await open()
  const slow = session.entries()
  for (const text of ['a', 'b', 'c']) await typesOf(session.prompt(text))
  expect(await earliestOf(session)).toBe(1)
  const seen: number[] = []
  for await (const { seq, event } of slow) {
    seen.push(seq)
    if (event.type === 'turn.completed' && seen.length === 10) break
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(await earliestOf(session)).toBe(10)
})

test('a turn has its result after its entries were evicted', async () => {
  const session = await open()
  const first = session.prompt('a')
  await typesOf(first)
  await typesOf(session.prompt('b'))
  expect(await first.result()).toMatchObject({ outcome: 'completed', text: 'a' })
})

test('a later subscriber starts with the first unread entry', async () => {
  const session = await open()
  await typesOf(session.prompt('a'))
  const reading = session.entries()
  await typesOf(session.prompt('b'))
  const seen: number[] = []
  for await (const { seq } of reading) if (seen.push(seq) === 3) break
  expect(seen).toEqual([5, 6, 7])
})

test('reading a turn does not evict the unread entries after it', async () => {
  const session = await open()
  const [first, second] = [session.prompt('a'), session.prompt('b')]
  await second.result()
  expect(await typesOf(first)).toEqual(TURN)
  const seen: string[] = []
  for await (const { event } of session.entries()) {
    seen.push(event.type)
    if (event.type === 'turn.completed') break
  }
  expect(seen).toEqual(TURN)
})

test('the unread rest of a turn is evicted with the next turn', async () => {
  const session = await open()
  for await (const { event } of session.prompt('a')) if (event.type === 'turn.started') break
  await session.prompt('b').result()
  expect(await earliestOf(session)).toBe(5)
})

test('a refused prompt keeps no entries', async () => {
  const session = await open()
  const refused = session.prompt('a', { images: [{ mimeType: 'image/png', data: 'AAAA' }] })
  await expect(refused.result()).rejects.toMatchObject({ code: 'unsupported_option' })
  await typesOf(session.prompt('b'))
  expect(await earliestOf(session)).toBe(4)
  await expect(typesOf(refused)).rejects.toMatchObject({ code: 'unsupported_option' })
})

test('a garbage-collected turn keeps no entries', async () => {
  const session = await open()
  const reading = session.entries()
  const drop = () => void session.prompt('a')
  drop()
  const seen: string[] = []
  for await (const { event } of reading) {
    seen.push(event.type)
    if (event.type === 'turn.completed') break
  }
  expect(seen).toEqual(['session.started', ...TURN])
  await typesOf(session.prompt('b'))
  const earliest = () => {
    collectGarbage()
    return earliestOf(session)
  }
  await expect.poll(earliest).toBe(7)
})
