import { describe, expect, test } from 'vitest'
import { isFields } from '../../../src/agents/kit/fields.ts'
import { decodeRecording } from '../../../src/compose/decode.ts'
import type { Entry, LaunchKind } from '../../../src/model/index.ts'
import { decodeFixture, decodeLines, type Fixture, fixtures } from '../fixtures.ts'
import { leavesOf } from './leaves.ts'
import { lists } from './lost-strings.ts'

const encoder = new TextEncoder()

function decode(agent: string, launch: LaunchKind, ...frames: readonly unknown[]) {
  const text = frames.map((frame) => `${JSON.stringify(frame)}\n`).join('')
  return decodeRecording({ agent, launch, stdout: [encoder.encode(text)], exit: { code: 0 } })
}

const eventsOf = ({ entries }: { entries: readonly Entry[] }) => entries.map(({ event }) => event)
const init = { type: 'system', subtype: 'init', session_id: 's', model: 'm', tools: [] }
const done = { type: 'result', subtype: 'success', is_error: false, result: 'done' }
const thread = { type: 'thread.started', thread_id: 't' }
const item = (fields: object) => ({ type: 'item.completed', item: { id: 'i', ...fields } })

describe('shapes that no version wrote so far', () => {
  test.each([
    ['a text', 'Hello there'],
    ['a word', 'Hello'],
  ])('claude: content that is %s is an answer', (_, content) => {
    const decoded = decode(
      'claude',
      'oneshot',
      init,
      { type: 'assistant', message: { id: 'm1', content } },
      done,
    )
    expect(eventsOf(decoded)).toContainEqual(
      expect.objectContaining({ type: 'text.completed', text: content }),
    )
    expect(decoded.coverage.unmapped).toBe(0)
  })

  test.each([
    ['content: text', { content: 'Hello' }],
    ['content: parts', { content: [{ type: 'output_text', text: 'Hello' }] }],
    ['text', { text: 'Hello' }],
  ])('codex: an agent message with %s is an answer', (_, fields) => {
    const decoded = decode('codex', 'oneshot', thread, item({ type: 'agent_message', ...fields }))
    expect(eventsOf(decoded)).toContainEqual(
      expect.objectContaining({ type: 'text.completed', text: 'Hello' }),
    )
  })

  test.each([
    ['summary: text', { summary: 'Let me see' }],
    ['summary: texts', { summary: ['Let me see'] }],
    ['summary: parts', { summary: [{ type: 'summary_text', text: 'Let me see' }] }],
  ])('codex: reasoning with %s is thinking', (_, fields) => {
    const decoded = decode('codex', 'oneshot', thread, item({ type: 'reasoning', ...fields }))
    expect(eventsOf(decoded)).toContainEqual(
      expect.objectContaining({ type: 'thinking.completed', text: 'Let me see' }),
    )
  })

  test('codex: a list of steps that are plain texts is a plan', () => {
    const list = item({ type: 'todo_list', items: ['Read', 'Write it'] })
    const decoded = decode('codex', 'oneshot', thread, list, list)
    expect(eventsOf(decoded).filter(({ type }) => type === 'plan.updated')).toMatchObject([
      {
        items: [
          { text: 'Read', status: 'pending' },
          { text: 'Write it', status: 'pending' },
        ],
      },
    ])
    expect(decoded.coverage.unmapped).toBe(0)
  })

  const user = (...content: unknown[]) => ({ type: 'user', message: { role: 'user', content } })
  const returned = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content })
  const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }
  test.each([
    ['a second result', user(returned('t1', 'again'))],
    ['the result of an unknown call', user(returned('t9', 'other'))],
    ['both in one frame', user(returned('t1', 'again'), returned('t9', 'other'))],
  ])('claude: %s is unmapped and kept whole', (_, stray) => {
    const calls = { type: 'assistant', message: { id: 'm1', content: [call] } }
    const decoded = decode('claude', 'oneshot', init, calls, user(returned('t1', 'ok')), stray, done)
    expect(decoded.coverage.unmapped).toBe(1)
    expect(eventsOf(decoded)).toContainEqual(
      expect.objectContaining({ type: 'native.unmapped', frame: JSON.stringify(stray) }),
    )
  })

  test.each([
    ['claude', 'oneshot', { ...done, remark: 'Something new was said' }],
    ['codex', 'oneshot', item({ type: 'agent_message', text: 'a', note: 'Something new was said' })],
    ['gemini', 'oneshot', { type: 'init', session_id: 's', greeting: 'Something new was said' }],
    ['pi', 'oneshot', { type: 'agent_start', greeting: 'Something new was said' }],
  ] as const)('%s: a new text makes its frame unmapped', (agent, launch, frame) => {
    const decoded = decode(agent, launch, frame)
    expect(decoded.coverage.unmapped).toBe(1)
    expect(eventsOf(decoded)).toContainEqual(
      expect.objectContaining({ type: 'native.unmapped', frame: JSON.stringify(frame) }),
    )
  })
})

/** Texts that are in one frame of a recording only, and in an event: one for each place of each program. */
function* placesOf(programs: readonly Fixture[]) {
  const seen = new Set<string>()
  for (const fixture of programs) {
    const frames = fixture.lines.map(outOf)
    const said = new Set(
      decodeFixture(fixture).entries.flatMap(({ event }) => [...leavesOf(event)].map(textOf)),
    )
    const counts = new Map<string, number>()
    for (const { value } of frames.flatMap((frame) => [...leavesOf(frame)]))
      counts.set(value, (counts.get(value) ?? 0) + 1)
    for (const [at, frame] of frames.entries()) {
      for (const { path, value } of leavesOf(frame)) {
        const place = `${JSON.stringify(frame).slice(0, 60)} ${path.join('.')}`.replace(/[\d-]+/g, '')
        if (seen.has(place) || counts.get(value) !== 1 || !/\S\s\S/.test(value) || !said.has(value)) continue
        seen.add(place)
        yield { fixture, at, path, value }
      }
    }
  }
}

const textOf = ({ value }: { value: string }) => value

/** The message of a line that the agent wrote. */
function outOf(line: string): unknown {
  const parsed = parse(line)
  if (typeof parsed !== 'object' || parsed === null || !('dir' in parsed)) return parsed
  return parsed.dir === 'out' && 'msg' in parsed ? parsed.msg : undefined
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Everything below a field that is named as dropped is dropped too. */
function isSilent(agent: string, frame: unknown, text: string): boolean {
  return isFields(frame) && lists.get(agent)?.unlisted(frame, (value) => value === text).length === 0
}

/** The line with the last name of a path changed, where it leads to this text. */
function renamed(line: string, name: string, value: string): string {
  const from = `${JSON.stringify(name)}:${JSON.stringify(value)}`
  return line.replace(from, `${JSON.stringify(`${name}InTheNextVersion`)}:${JSON.stringify(value)}`)
}

describe('a text in a field of another name', () => {
  const programs = Map.groupBy(fixtures, ({ program, launch }) => `${program} ${launch}`)
  test.each([...programs])('is never lost: %s', (_, recordings) => {
    const lost: string[] = []
    for (const { fixture, at, path, value } of placesOf(recordings)) {
      const lines = fixture.lines.with(at, renamed(fixture.lines[at] ?? '', path.at(-1) ?? '', value))
      if (isSilent(fixture.agent, outOf(lines[at] ?? ''), value)) continue
      const inFrame = JSON.stringify(value).slice(1, -1)
      const { entries } = decodeLines(fixture, lines)
      const isKept = entries.some(({ event }) =>
        [...leavesOf(event)].some((leaf) => leaf.value.includes(value) || leaf.value.includes(inFrame)),
      )
      if (!isKept) lost.push(`${fixture.name} ${path.join('.')}: ${value.slice(0, 60)}`)
    }
    expect(lost).toEqual([])
  })
})
