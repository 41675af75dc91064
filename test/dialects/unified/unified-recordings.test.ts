import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AgentEvent } from '../../../src/dialects/unified/unified-event.ts'
import { EXTENSIONS } from '../../../src/dialects/unified/unified-extension.ts'
import { unified } from '../../../src/dialects/unified.ts'
import type { Entry } from '../../../src/model/index.ts'
import { runs } from '../../long.ts'
import { projectAll } from '../entries.ts'
import { schema } from '../json-schema.ts'
import { cutRecording, plays, recordings } from '../plays.ts'
import { disorder, printedText } from './unified-order.ts'

const AgentEvents = AgentEvent.array()
const read = (entries: readonly Entry[]) => AgentEvents.parse(projectAll(unified, entries))

const printed = schema('unified-event.printed')
const widened = schema('unified-event')

/** The agents that the document knows. */
const DOCUMENTED = new Set(['claude', 'codex', 'gemini'])

/** The texts of the main thread, each once; a half that was dropped counts if nothing came in its place. */
function textIn(entries: readonly Entry[]): string {
  const pieces = new Map<string, string>()
  let text = ''
  let dropped = ''
  for (const { event } of entries) {
    if (event.type === 'text.delta' && event.parent === undefined) {
      pieces.set(event.messageId, (pieces.get(event.messageId) ?? '') + event.text)
    } else if (event.type === 'message.discarded') {
      dropped = pieces.get(event.messageId) ?? dropped
    } else if (event.type === 'text.completed' && event.parent === undefined) {
      text += event.text
      dropped = ''
    }
  }
  return text + dropped
}

/** Whether every turn of the log has its end, and there is one. */
function isSettled(entries: readonly Entry[]): boolean {
  const count = (type: string) => entries.filter(({ event }) => event.type === type).length
  return count('turn.started') > 0 && count('turn.started') === count('turn.completed')
}

test('there are recordings of every documented agent', () => {
  for (const agent of DOCUMENTED) {
    expect(plays.filter((play) => play.agent === agent).length).toBeGreaterThan(50)
  }
})

describe('every recording', () => {
  test.each(plays)('$name is valid against the schema of the document, or the widened one', (play) => {
    const messages = read(play.entries)
    expect(messages.length).toBeGreaterThan(0)
    expect(messages.map(widened).filter(Boolean)).toEqual([])
    const documented = messages.filter(({ type }) => !EXTENSIONS.has(type))
    if (DOCUMENTED.has(play.agent)) expect(documented.map(printed).filter(Boolean)).toEqual([])
  })

  test.each(plays)('$name has its beginnings and ends in order', ({ entries }) => {
    const messages = read(entries)
    expect(disorder(messages)).toEqual([])
    expect(messages[0]?.type).toBe('sessionStarted')
    if (isSettled(entries)) expect(messages.at(-1)?.type).toBe('sessionEnded')
  })

  test.each(plays)('$name emits every text once', ({ entries }) => {
    expect(printedText(read(entries))).toBe(textIn(entries))
  })

  test.each(plays)('$name reports every open request, and its end', ({ entries }) => {
    const ids = (type: string) =>
      entries.flatMap(({ event }) => (event.type === type && 'requestId' in event ? [event.requestId] : []))
    const messages = read(entries)
    const shown = (type: string) =>
      messages.flatMap((message) =>
        message.type === type && 'requestId' in message ? [message.requestId] : [],
      )
    expect(shown('requestOpened')).toEqual(ids('request.opened'))
    expect(shown('requestClosed').toSorted()).toEqual(ids('request.opened').toSorted())
  })

  test.each(plays)('$name reports a failure once', ({ entries }) => {
    const messages = read(entries)
    const ends = messages.flatMap((message) => (message.type === 'turnFailed' ? [message.error] : []))
    const repeated = messages.filter(
      (message) => message.type === 'error' && ends.some((end) => end.includes(message.message.trim())),
    )
    expect(repeated).toEqual([])
  })

  test.each(plays)('$name has ids that are unique, and the same each time', ({ entries }) => {
    const messages = read(entries)
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    expect(read(entries)).toEqual(messages)
  })
})

test('a recording cut anywhere is a stream in order', () => {
  fc.assert(
    fc.property(fc.constantFrom(...recordings), fc.nat(), (fixture, at) => {
      const messages = read(cutRecording(fixture, at))
      expect(disorder(messages)).toEqual([])
      expect(messages.map(widened).filter(Boolean)).toEqual([])
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
