import { expect, test } from 'vitest'
import { showAs, showRequests, showToPeople } from '../../src/cli/show.ts'
import { widthOf } from '../../src/cli/wrap.ts'
import { mainstem } from '../../src/dialects/mainstem.ts'
import type { Event } from '../../src/model/index.ts'
import { entriesOf } from '../dialects/entries.ts'
import { SAMPLES } from '../model/samples.ts'

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
