import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SessionEvent } from '../../../src/dialects/board/board-event.ts'
import { board } from '../../../src/dialects/board.ts'
import { type Entry, FACES } from '../../../src/model/index.ts'
import { runs } from '../../long.ts'
import { projectAll } from '../entries.ts'
import { schema } from '../json-schema.ts'
import { cutRecording, plays, recordings } from '../plays.ts'
import { boardState } from './board-state.ts'

const SessionEvents = SessionEvent.array()
const read = (entries: readonly Entry[]) => SessionEvents.parse(projectAll(board, entries))

const printed = schema('board-event.printed')
const widened = schema('board-event')

function expectValid(messages: readonly SessionEvent[]): void {
  expect(messages.map(printed).filter(Boolean)).toEqual([])
  expect(messages.map(widened).filter(Boolean)).toEqual([])
}

/** What the log says of each tool, and what the board says of it. */
function toolsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ event }) => {
    if (event.type === 'tool.started') return [`${event.toolId} starts`]
    return event.type === 'tool.completed'
      ? [`${event.toolId} ends well: ${['success', 'unknown'].includes(event.status)}`]
      : []
  })
}

function toolsShown(messages: readonly SessionEvent[]): string[] {
  return messages.flatMap(({ type, payload }) => {
    if (type === 'action') return [`${payload.toolId} starts`]
    return type === 'toolResult' ? [`${payload.toolId} ends well: ${payload.success}`] : []
  })
}

describe('every recording', () => {
  test('is there', () => {
    expect(plays.length).toBeGreaterThan(200)
  })

  test.each(plays)('$name is valid against the schema of the document', ({ entries }) => {
    expectValid(read(entries))
  })

  test.each(plays)('$name emits every text once', ({ entries }) => {
    const lines = read(entries).flatMap(({ type, payload }) =>
      type === 'log' && !payload.outcome && !payload.request ? [payload.line] : [],
    )
    const texts = entries.flatMap(({ event }) =>
      event.type === 'text.completed' && event.parent === undefined && event.text !== '' ? [event.text] : [],
    )
    expect(lines).toEqual(texts)
  })

  test.each(plays)('$name shows every tool of every agent, and how it ended', ({ entries }) => {
    expect(toolsShown(read(entries))).toEqual(toolsOf(entries))
  })

  test.each(plays)('$name has the state of its last turn, and the matching message', ({ entries }) => {
    const last = entries.findLast(({ event }) => event.type === 'turn.completed')?.event
    const state = last?.type === 'turn.completed' ? FACES[last.outcome].board : 'running'
    expect(boardState(entries)).toBe(state)
    const ends = read(entries).filter(({ type }) => type === 'error' || type === 'cancelled')
    if (state === 'failed') expect(ends.at(-1)?.type).toBe('error')
    if (state === 'cancelled') expect(ends.at(-1)?.type).toBe('cancelled')
  })

  test.each(plays)('$name has ids that are unique, and the same each time', ({ entries }) => {
    const messages = read(entries)
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    expect(read(entries)).toEqual(messages)
  })
})

test('a recording cut anywhere is a valid stream and settles', () => {
  fc.assert(
    fc.property(fc.constantFrom(...recordings), fc.nat(), (fixture, at) => {
      const entries = cutRecording(fixture, at)
      expectValid(read(entries))
      const turns = entries.some(({ event }) => event.type === 'turn.started')
      expect(boardState(entries) === 'running').toBe(!turns)
    }),
    { numRuns: runs(25, 300) },
  )
})

test('a log cut anywhere is the first part of the whole stream', () => {
  fc.assert(
    fc.property(fc.constantFrom(...plays), fc.nat(), ({ entries }, at) => {
      const part = read(entries.slice(0, at % (entries.length + 1)))
      expect(part).toEqual(read(entries).slice(0, part.length))
    }),
    { numRuns: runs(25, 300) },
  )
})
