import { expect, test } from 'vitest'
import { type Entry, type Event, mainstem } from '../../src/index.ts'

test('a turn yields its entries and has a result', async () => {
  await using agents = mainstem()
  await using session = await agents.session({ agent: 'echo', cwd: '/' })
  const turn = session.prompt('hello')
  const events: Event[] = []
  for await (const entry of turn) events.push(entry.event)
  expect(events.map(({ type }) => type)).toEqual(['turn.started', 'text.completed', 'turn.completed'])
  expect(await turn.result()).toMatchObject({ outcome: 'completed', text: 'hello' })
})

test('turns of a session run in order, each with its own entries', async () => {
  await using agents = mainstem()
  await using session = await agents.session({ agent: 'echo', cwd: '/' })
  const turns = [session.prompt('one'), session.prompt('two'), session.prompt('three')]
  const results = await Promise.all(turns.map((turn) => turn.result()))
  expect(results.map(({ text }) => text)).toEqual(['one', 'two', 'three'])
  for (const [index, turn] of turns.entries()) {
    const entries = await Array.fromAsync(turn)
    expect(new Set(entries.map((entry) => entry.turn))).toEqual(new Set([index + 1]))
  }
})

test('an unsupported option is refused before the agent starts', async () => {
  await using agents = mainstem()
  await expect(agents.session({ agent: 'nobody', cwd: '/' })).rejects.toMatchObject({
    code: 'agent_not_found',
  })
  const cannot = agents.session({ agent: 'claude', cwd: '/', policy: { sandbox: 'workspace-write' } })
  await expect(cannot).rejects.toMatchObject({ code: 'unsupported_option' })
})

test('a signal interrupts the turn', async () => {
  await using agents = mainstem()
  await using session = await agents.session({ agent: 'demo', cwd: '/' })
  const stop = new AbortController()
  const turn = session.prompt('go', { signal: stop.signal })
  for await (const { event } of turn) if (event.type === 'thinking.delta') stop.abort()
  expect(await turn.result()).toMatchObject({ outcome: 'interrupted' })
})

test('an aborted signal prevents the turn', async () => {
  await using agents = mainstem()
  await using session = await agents.session({ agent: 'echo', cwd: '/' })
  const turn = session.prompt('go', { signal: AbortSignal.abort() })
  await expect(turn.result()).rejects.toMatchObject({ code: 'conflict' })
})

test('entries replays the log, then streams until the session ends', async () => {
  await using agents = mainstem()
  const session = await agents.session({ agent: 'echo', cwd: '/' })
  await session.prompt('one').result()
  const reading = readAll(session.entries())
  await session.prompt('two').result()
  await session[Symbol.asyncDispose]()
  const entries = await reading
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
  expect(entries.at(-1)?.event.type).toBe('session.ended')
})

async function readAll(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const all: Entry[] = []
  for await (const entry of entries) all.push(entry)
  return all
}

test('close ends one session or all sessions without `await using`', async () => {
  const agents = mainstem()
  const [first, second] = [
    await agents.session({ agent: 'echo', cwd: '/' }),
    await agents.session({ agent: 'echo', cwd: '/' }),
  ]
  await first.close()
  await expect(first.prompt('late').result()).rejects.toMatchObject({ code: 'conflict' })
  await agents.close()
  await expect(second.prompt('late').result()).rejects.toMatchObject({ code: 'conflict' })
})
