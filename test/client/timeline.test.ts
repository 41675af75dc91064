import { expect, test } from 'vitest'
import {
  activityOf,
  applyEntry,
  newTimeline,
  subagentName,
  type Timeline,
  type TimelineItem,
  type ToolItem,
} from '../../src/client/index.ts'
import { nextTurn } from '../../src/client/timeline/next-turn.ts'
import type { Entry } from '../../src/model/index.ts'
import { decodeFixture, fixtures } from '../agents/fixtures.ts'
import { SAMPLES } from '../model/samples.ts'

function fold(entries: readonly Entry[]): Timeline {
  const timeline = newTimeline()
  for (const entry of entries) applyEntry(timeline, entry)
  return timeline
}

function flat(items: readonly TimelineItem[]): TimelineItem[] {
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

test('a prompt names its sender, also one that arrives during a turn', () => {
  const { items } = fold([
    entry({ type: 'turn.started', turn: 1, origin: 'prompt', prompt: 'one', principal: 'ann' }),
    entry({ type: 'turn.steered', turn: 1, prompt: 'two', effect: 'folded', principal: 'bob' }),
    entry({ type: 'turn.started', turn: 2, origin: 'prompt', prompt: 'three' }),
  ])
  expect(items.map((item) => item.kind === 'prompt' && [item.text, item.principal])).toEqual([
    ['one', 'ann'],
    ['two', 'bob'],
    ['three', undefined],
  ])
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
    const count = (kind: TimelineItem['kind']) => items.filter((item) => item.kind === kind).length
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
  applyEntry(timeline, entry({ type: 'text.delta', messageId: 'b', text: 'o' }))
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
  applyEntry(timeline, entry({ type: 'text.completed', messageId: 'm', text: 'inner', parent: 'x' }))
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

test('a hand-over is a notice with the recap, and the facts are those of the new agent', () => {
  const handedOver = SAMPLES['session.handed_over']
  const { items, facts } = fold([
    entry({ type: 'session.updated', models: [{ id: 'opus' }], mode: 'plan' }),
    entry(handedOver),
  ])
  expect(items).toMatchObject([{ kind: 'notice', code: 'handed_over', recap: 'Turn 1 (completed)' }])
  expect(facts).toMatchObject({ models: [], capabilities: handedOver.capabilities })
  expect(facts.mode).toBeUndefined()
})

test('a limit is shown with the time when it resets', () => {
  const resetsAt = 1_800_000_000_000
  const { items } = fold([entry({ type: 'limit.reported', kind: 'rate', usedPercent: 91, resetsAt })])
  const message = 'Rate limit, 91% used, resets at 2027-01-15 08:00 UTC'
  expect(items).toMatchObject([{ kind: 'notice', message }])
})

test('a call names who decides its open request, before and after its start', () => {
  const request = { type: 'request.opened', requestId: 'r', kind: 'permission', blocking: true } as const
  const asked = { ...request, toolId: 't', inputDigest: '0', options: [] }
  const started = { type: 'tool.started', toolId: 't', name: 'Bash', kind: 'execute' } as const
  for (const [answeredBy, decider] of [
    [{}, 'person'],
    [{ answeredBy: 'hook' }, 'hook'],
  ] as const) {
    const timeline = fold([entry({ ...asked, ...answeredBy }), entry(started)])
    const tool = () => timeline.items.find(({ kind }) => kind === 'tool')
    expect(tool()).toMatchObject({ waitsFor: decider })
    applyEntry(timeline, entry({ type: 'request.resolved', requestId: 'r', decision: 'allow', by: 'hook' }))
    expect(tool()).toMatchObject({ waitsFor: undefined, status: 'running' })
  }
})

test('what a session is doing now', () => {
  const timeline = newTimeline()
  const after = (event: Entry['event']) => {
    applyEntry(timeline, entry(event))
    const activity = activityOf(timeline)
    return 'tool' in activity ? activity.tool.name : activity.state
  }
  const request = { type: 'request.opened', requestId: 'now', kind: 'permission', blocking: true } as const
  const asked = { ...request, inputDigest: '0', options: [] }
  const tool = (toolId: string, name: string) =>
    ({ type: 'tool.started', toolId, name, kind: 'execute' }) as const
  const done = (toolId: string) =>
    ({ type: 'tool.completed', toolId, name: 'Bash', kind: 'execute', status: 'success' }) as const
  expect(activityOf(timeline).state).toBe('idle')
  expect(after({ type: 'turn.started', turn: 1, prompt: 'go', origin: 'prompt' })).toBe('model')
  expect(after({ type: 'thinking.delta', messageId: 'a', text: 'h' })).toBe('thinking')
  expect(after({ type: 'text.delta', messageId: 'b', text: 'h' })).toBe('text')
  expect(after({ type: 'text.completed', messageId: 'b', text: 'hi' })).toBe('model')
  expect(after(tool('1', 'Bash'))).toBe('Bash')
  expect(after(tool('2', 'Read'))).toBe('Read')
  expect(after(done('2'))).toBe('Bash')
  expect(after({ ...asked, answeredBy: 'hook' })).toBe('Bash')
  expect(after({ ...asked, requestId: 'person' })).toBe('waiting')
  expect(after({ type: 'request.withdrawn', requestId: 'person', reason: 'agent' })).toBe('Bash')
  expect(after({ type: 'usage.reported', scope: 'step', total: 7, source: 'agent' })).toBe('Bash')
  expect(timeline.running).toMatchObject({ turn: 1, tokens: 7 })
  const ended = { outcome: 'interrupted', durationMs: 5, denials: 0 } as const
  expect(after({ type: 'turn.completed', turn: 1, ...ended })).toBe('idle')
  expect(after({ type: 'turn.started', turn: 2, prompt: 'more', origin: 'prompt' })).toBe('model')
})

test('the timeline of the next turn has what still runs, and nothing else', () => {
  const task = (toolId: string, parent?: string) =>
    ({ type: 'tool.started', toolId, name: 'Task', kind: 'task', ...(parent && { parent }) }) as const
  const agent = (id: string, toolId: string) => ({ type: 'subagent.started', id, toolId, label: id }) as const
  const done = (toolId: string) =>
    ({ type: 'tool.completed', toolId, name: 'Task', kind: 'task', status: 'success' }) as const
  const before = fold([
    entry({ type: 'turn.started', turn: 1, prompt: 'go', origin: 'prompt' }),
    entry(task('1')),
    entry(agent('outer', '1')),
    entry({ type: 'text.completed', messageId: 'm', text: 'long', parent: 'outer' }),
    entry(task('2', 'outer')),
    entry(agent('inner', '2')),
    entry(done('2')),
    entry(done('1')),
    entry({ type: 'subagent.completed', id: 'outer', status: 'success' }),
    entry(task('3')),
    entry(done('3')),
  ])
  const next = nextTurn(before)
  expect(flat(next.items).map((item) => item.key)).toEqual(['tool:1', 'tool:2'])
  applyEntry(next, entry({ type: 'text.completed', messageId: 'n', text: 'late', parent: 'inner' }))
  expect(flat(next.items).map((item) => item.key)).toEqual(['tool:1', 'tool:2', 'text:n'])
  expect(subagentName(next, 'inner')).toBe('inner')
  expect(flat(before.items)).toHaveLength(5)
})

test('a silence that lasts is one notice with its length so far', () => {
  const silent = (seconds: number) =>
    entry({
      type: 'notice.raised',
      level: 'info',
      code: 'agent_silent',
      message: `no output from demo for ${seconds} s`,
    })
  const timeline = fold([
    silent(60),
    silent(120),
    entry({ type: 'text.completed', messageId: 'm', text: 'still here' }),
    silent(60),
  ])
  expect(timeline.items).toMatchObject([
    { kind: 'notice', message: 'no output from demo for 120 s' },
    { kind: 'text' },
    { kind: 'notice', message: 'no output from demo for 60 s' },
  ])
})
