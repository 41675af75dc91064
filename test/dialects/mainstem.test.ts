import { expect, test } from 'vitest'
import { mainstem } from '../../src/dialects/mainstem.ts'
import { SAMPLES } from '../model/samples.ts'
import { entriesOf, projectAll } from './entries.ts'

test('every entry is a message, verbatim', () => {
  const entries = entriesOf(...Object.values(SAMPLES))
  expect(entries.length).toBeGreaterThan(30)
  expect(projectAll(mainstem, entries)).toEqual(entries)
})

test('nothing follows the end of the session, and much follows a turn', () => {
  const state = mainstem.initial({})
  const [turn, session] = entriesOf(SAMPLES['turn.completed'], SAMPLES['session.ended'])
  if (!turn || !session) throw new Error('two events give two entries')
  mainstem.project(state, turn)
  expect(mainstem.finished(state)).toBe(false)
  mainstem.project(state, session)
  expect(mainstem.finished(state)).toBe(true)
})
