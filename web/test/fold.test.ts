import { expect, test } from 'vitest'
import type { Entry, SessionRecord } from '../../src/model/index.ts'
import { decodeFixture, fixtures } from '../../test/agents/fixtures.ts'
import { apply } from '../src/session/fold/apply.ts'
import type { Item, ToolItem } from '../src/session/fold/items.ts'
import { emptyTimeline, type Timeline } from '../src/session/fold/timeline.ts'
import { presentRecord } from '../src/session/present-record.ts'

function fold(entries: readonly Entry[]): Timeline {
  const timeline = emptyTimeline()
  for (const entry of entries) apply(timeline, entry)
  return timeline
}

function flat(items: readonly Item[]): Item[] {
  return items.flatMap((item) => [
    item,
    ...(item.kind === 'tool' && item.subagent ? flat(item.subagent.items) : []),
  ])
}

const ofType = <Type extends Entry['event']['type']>(entries: readonly Entry[], type: Type) =>
  entries.flatMap(({ event }) =>
    event.type === type ? [event as Extract<Entry['event'], { type: Type }>] : [],
  )

const recordings = fixtures.map((fixture) => ({
  name: fixture.name,
  entries: decodeFixture(fixture).entries,
}))

let seq = 0
const entry = (event: Entry['event']): Entry => ({ seq: ++seq, session: 's', turn: 1, at: seq, event })

test('every recording is folded', () => {
  expect(recordings.length).toBeGreaterThan(400)
  for (const { name, entries } of recordings) {
    const { first, last } = fold(entries)
    expect([first, last], name).toEqual([entries[0]?.seq ?? 0, entries.at(-1)?.seq ?? 0])
  }
})

test('every message that the agent completed is shown whole, and no other text is', () => {
  for (const { name, entries } of recordings) {
    const shown = flat(fold(entries).items).flatMap((item) =>
      item.kind === 'text' && (item.state === 'done' || item.state === 'cut') ? [item.text] : [],
    )
    const completed = ofType(entries, 'text.completed').map(({ text }) => text)
    expect(shown.toSorted(), name).toEqual(completed.toSorted())
  }
})

test('every tool call is one item with its result', () => {
  for (const { name, entries } of recordings) {
    const tools = flat(fold(entries).items).filter((item): item is ToolItem => item.kind === 'tool')
    for (const { toolId, status, output } of ofType(entries, 'tool.completed')) {
      const found = tools.filter((tool) => tool.toolId === toolId)
      expect(found, name).toHaveLength(1)
      expect(found[0], name).toMatchObject({ status, ...(output !== undefined && { output }) })
    }
  }
})

test('every outcome, request and file change is shown', () => {
  for (const { name, entries } of recordings) {
    const items = flat(fold(entries).items)
    const count = (kind: Item['kind']) => items.filter((item) => item.kind === kind).length
    expect(count('outcome'), name).toBe(ofType(entries, 'turn.completed').length)
    expect(count('request'), name).toBe(ofType(entries, 'request.opened').length)
    const files = items.reduce(
      (sum, item) => sum + (item.kind === 'tool' ? item.files.length : 0),
      count('file'),
    )
    expect(files, name).toBe(ofType(entries, 'file.changed').length)
  }
})

test('entries that arrive twice change nothing', () => {
  for (const { name, entries } of recordings) {
    const once = fold(entries)
    const twice = fold(
      entries.flatMap((one, index) => [one, ...entries.slice(Math.max(0, index - 3), index + 1)]),
    )
    expect(twice.items, name).toEqual(once.items)
  }
})

test('a fold that starts in the middle shows the same end', () => {
  for (const { name, entries } of recordings.slice(0, 150)) {
    const middle = Math.floor(entries.length / 2)
    const tail = flat(fold(entries.slice(middle)).items)
    for (const { text } of ofType(entries.slice(middle), 'text.completed'))
      expect(
        tail.some((item) => item.kind === 'text' && item.text === text),
        name,
      ).toBe(true)
  }
})

test('an item that does not change keeps its identity', () => {
  const timeline = fold([
    entry({ type: 'text.completed', messageId: 'a', text: 'one' }),
    entry({ type: 'text.delta', messageId: 'b', text: 'tw' }),
  ])
  const [first, second] = timeline.items
  apply(timeline, entry({ type: 'text.delta', messageId: 'b', text: 'o' }))
  expect(timeline.items[0]).toBe(first)
  expect(timeline.items[1]).not.toBe(second)
  expect(timeline.items[1]).toMatchObject({ text: 'two', state: 'streaming' })
})

test('a message that the agent dropped stays visible beside the one that replaces it', () => {
  const timeline = fold([
    entry({ type: 'text.delta', messageId: 'a', text: 'half' }),
    entry({ type: 'message.discarded', messageId: 'a', reason: 'stream_broken' }),
    entry({ type: 'text.delta', messageId: 'a', text: 'wh' }),
    entry({ type: 'text.completed', messageId: 'a', text: 'whole' }),
  ])
  expect(timeline.items).toMatchObject([
    { text: 'half', state: 'discarded' },
    { text: 'whole', state: 'done' },
  ])
})

test('the work of a sub-agent is inside of its call, which changes with it', () => {
  const timeline = fold([
    entry({ type: 'tool.started', toolId: 't', name: 'Task', kind: 'task' }),
    entry({ type: 'subagent.started', id: 'x', toolId: 't', label: 'Look around' }),
  ])
  const [before] = timeline.items
  apply(timeline, entry({ type: 'text.completed', messageId: 'm', text: 'inner', parent: 'x' }))
  expect(timeline.items).toHaveLength(1)
  expect(timeline.items[0]).not.toBe(before)
  expect(timeline.items[0]).toMatchObject({ subagent: { label: 'Look around', items: [{ text: 'inner' }] } })
})

test('a draft whose call never started is cancelled with its turn', () => {
  const timeline = fold([
    entry({ type: 'tool.input.delta', toolId: 't', name: 'Bash', delta: '{"comm' }),
    entry({ type: 'turn.completed', turn: 1, outcome: 'interrupted', durationMs: 1, denials: 0 }),
  ])
  expect(timeline.items[0]).toMatchObject({ kind: 'tool', status: 'cancelled' })
})

test('lost context is a fact of the session', () => {
  const message = 'resume failed'
  const timeline = fold([entry({ type: 'notice.raised', level: 'warning', code: 'context_lost', message })])
  expect(timeline.facts.contextLost).toMatchObject({ message })
})

test('a record that is behind the log shows the end of the turn', () => {
  const begun = entry({ type: 'turn.started', turn: 1, prompt: 'go', origin: 'prompt' })
  const completed = entry({
    type: 'turn.completed',
    turn: 1,
    outcome: 'interrupted',
    durationMs: 5,
    denials: 0,
  })
  const record: SessionRecord = {
    id: 's',
    principal: 'local',
    agent: 'demo',
    launch: 'live',
    cwd: '/',
    policy: { approval: 'ask', sandbox: 'none' },
    options: {},
    attended: true,
    status: 'busy',
    createdAt: 0,
    updatedAt: 0,
    head: begun.seq,
    turns: 1,
    queue: [],
    requests: [],
    usage: {},
    frames: 0,
    epoch: 0,
  }
  expect(presentRecord(record, fold([begun, completed]))).toMatchObject({
    status: 'idle',
    lastOutcome: 'interrupted',
    requests: [],
  })
  const current = { ...record, head: completed.seq }
  expect(presentRecord(current, fold([begun, completed]))).toBe(current)
  const next = entry({ type: 'turn.started', turn: 2, prompt: 'more', origin: 'prompt' })
  expect(presentRecord(record, fold([begun, completed, next]))).toBe(record)
})
