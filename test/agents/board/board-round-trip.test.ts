import { expect, test } from 'vitest'
import { decodeRecording } from '../../../src/compose/decode.ts'
import { board } from '../../../src/dialects/board.ts'
import type { Message } from '../../../src/dialects/dialect.ts'
import { type Entry, type Event, FACES } from '../../../src/model/index.ts'
import { boardState } from '../../dialects/board/board-state.ts'
import { plays } from '../../dialects/plays.ts'
import { violations } from '../invariants.ts'

/** A log as the messages of a board. */
function served(entries: readonly Entry[]): readonly Message[] {
  const fold = board.initial({})
  return entries.flatMap((entry) => board.project(fold, entry))
}

/** The same, read by a client of that board. */
function throughBoard(entries: readonly Entry[]): readonly Entry[] {
  const state = { tag: 'state', status: 200, body: { state: boardState(entries) } }
  const lines = [...served(entries), state].map((message) => `${JSON.stringify(message)}\n`)
  return decodeRecording({ agent: 'board', stdout: [new TextEncoder().encode(lines.join(''))] }).entries
}

/** A client of a board has one turn, and the first end that it is told of is the end of that. */
function endOf(entries: readonly Entry[]): string {
  const end = served(entries).find(({ type }) => type === 'error' || type === 'cancelled')
  if (!end) return boardState(entries)
  return end.type === 'error' ? 'failed' : 'cancelled'
}

const events = (entries: readonly Entry[]): Event[] => entries.map(({ event }) => event)

function toolEnds(entries: readonly Entry[]): [string, string][] {
  return events(entries).flatMap((event): [string, string][] =>
    event.type === 'tool.completed' ? [[event.name, event.status]] : [],
  )
}

/** A board has no guesses: a change of an unknown kind is a modification. */
function changes(entries: readonly Entry[]): [string, string, string | undefined][] {
  return events(entries).flatMap((event): [string, string, string | undefined][] => {
    if (event.type !== 'file.changed') return []
    return [[event.path, event.changeReported === false ? 'modified' : event.change, event.from]]
  })
}

function answers(entries: readonly Entry[]): string[] {
  return events(entries).flatMap((event) =>
    event.type === 'text.completed' && event.parent === undefined && event.text !== '' ? [event.text] : [],
  )
}

/** Sessions that say anything on this face. */
const told = plays.filter(({ entries }) => throughBoard(entries).some(({ turn }) => turn !== undefined))

test('most logs produce events on a board', () => {
  expect(told.length).toBeGreaterThan(300)
})

test.each(told)('$name: read back from a board, it is the same work', ({ entries }) => {
  const back = throughBoard(entries)
  expect(violations(back)).toEqual([])
  expect(toolEnds(back)).toEqual(toolEnds(entries))
  expect(changes(back).toSorted()).toEqual(changes(entries).toSorted())
  const heard = answers(back)
  expect(answers(entries).filter((text) => !heard.includes(text))).toEqual([])
  const outcomes = events(back).flatMap((event) => (event.type === 'turn.completed' ? [event.outcome] : []))
  expect(outcomes.map((outcome) => FACES[outcome].board)).toEqual([endOf(entries)])
})
