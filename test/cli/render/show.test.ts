import { describe, expect, test } from 'vitest'
import { showAs, showRequests, showToPeople } from '../../../src/cli/render/show.ts'
import { widthOf } from '../../../src/cli/render/wrap.ts'
import { dialects } from '../../../src/dialects/index.ts'
import { mainstem } from '../../../src/dialects/mainstem.ts'
import type { Event } from '../../../src/model/index.ts'
import { entriesOf } from '../../dialects/entries.ts'
import { SAMPLES } from '../../model/samples.ts'

const FILE = { isTTY: false, columns: 0 }
const terminal = (columns: number) => ({ isTTY: true, columns })

const long: Event = { type: 'text.completed', messageId: 'm1', text: 'word '.repeat(100) }
const permission: Event = { ...SAMPLES['request.opened'], tool: 'Bash', input: { command: 'ls' } }

function shown(show: ReturnType<typeof showToPeople>, ...events: Event[]): string {
  return entriesOf(...events)
    .map(show)
    .join('')
}

test('where there is no terminal, lines are as long as they are', () => {
  expect(shown(showToPeople(FILE), long).split('\n')).toHaveLength(2)
})

test.each([
  [40, 40],
  [300, 100],
])('in %i columns no line is longer than %i', (columns, longest) => {
  // Colours depend on the environment of the test; the width of a line does not.
  const lines = shown(showToPeople(terminal(columns)), long).split('\n')
  const widths = lines.map((line) => widthOf(line.replace(/\x1b\[\d+m/g, '')))
  expect(Math.max(...widths)).toBeLessThanOrEqual(longest)
  expect(Math.max(...widths)).toBeGreaterThan(longest - 10)
})

test('a window that is made narrower is kept to from the next line on', () => {
  const window = { isTTY: true, columns: 100 }
  const show = showToPeople(window)
  shown(show, long)
  window.columns = 30
  const lines = shown(show, { ...long, messageId: 'm2' }).split('\n')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(30)
})

test('for a terminal that shows nothing else, a request brings along what it is about', () => {
  const call: Event = { ...SAMPLES['tool.started'], toolId: 't1', input: { command: 'rm -r build' } }
  const opened: Event = { ...SAMPLES['request.opened'], toolId: 't1', input: {} }
  expect(shown(showRequests(FILE), long, call)).toBe('')
  expect(shown(showRequests(FILE), long, call, opened)).toContain('    command: rm -r build\n')
  expect(shown(showRequests(FILE), permission, SAMPLES['request.resolved'])).not.toContain('→')
})

test('for programs each message is one line of JSON', () => {
  const entries = entriesOf(long, permission)
  const lines = entries.map(showAs(mainstem)).join('').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual(entries)
})

describe('JSON lines', () => {
  const steering = String.fromCharCode(0x7f, 0x80, 0x9b, 0x9d, 0x9f, 0x202e, 0x2066, 0x061c)
  const event: Event = { type: 'text.completed', messageId: 'm1', text: `a${steering}b 日本語` }

  test.each([...dialects.values()])('of $id steer no terminal, and have the same values', (dialect) => {
    const lines = shown(showAs(dialect), event)
    expect(lines).not.toMatch(/[\x7f-\x9f\u061c\u202e\u2066]/)
    const parsed = lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    const state = dialect.initial({})
    expect(parsed).toEqual(
      JSON.parse(JSON.stringify(entriesOf(event).flatMap((entry) => [...dialect.project(state, entry)]))),
    )
  })

  test('are those of the dialect with control characters escaped', () => {
    expect(shown(showAs(mainstem), event)).toContain('a\\u007f\\u0080\\u009b')
  })
})

test('a terminal of unknown size has 80 columns', () => {
  const lines = shown(showToPeople(terminal(0)), long).split('\n')
  expect(Math.max(...lines.map((line) => line.length))).toBeGreaterThan(60)
})
