import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StreamEvent } from '../../../src/dialects/daemon/daemon-event.ts'
import { daemon, endsExchange } from '../../../src/dialects/daemon.ts'
import type { Entry } from '../../../src/model/index.ts'
import { runs } from '../../long.ts'
import { projectAll } from '../entries.ts'
import { cutRecording, plays, recordings } from '../plays.ts'

const StreamEvents = StreamEvent.array()
const read = (entries: readonly Entry[]) => StreamEvents.parse(projectAll(daemon, entries))

/** The streams that a client reads one after the other; the last one may still be open. */
function exchangesIn(messages: readonly StreamEvent[]): StreamEvent[][] {
  const exchanges: StreamEvent[][] = [[]]
  for (const message of messages) {
    exchanges.at(-1)?.push(message)
    if (endsExchange(message)) exchanges.push([])
  }
  return exchanges.filter((exchange) => exchange.length > 0)
}

/** What is wrong with an exchange, in words. */
function disorder(exchange: readonly StreamEvent[]): string[] {
  const [first, ...rest] = exchange
  const found: string[] = []
  if (rest.some(({ type }) => type === 'system')) found.push('a second beginning')
  if (rest.length > 0 && first?.type !== 'system') found.push(`begins with ${first?.type}`)
  if (exchange.slice(0, -1).some(endsExchange)) found.push('goes on after its end')
  return found
}

/** What stands on the screen of a client that appends partials, and replaces them when the whole text comes. */
function shownIn(exchange: readonly StreamEvent[]): string[] {
  const shown: string[] = []
  let buffer = ''
  for (const message of exchange) {
    if (message.type === 'partial') buffer += message.content
    if (message.type !== 'text') continue
    shown.push(message.content)
    buffer = ''
  }
  return buffer === '' ? shown : [...shown, buffer]
}

/** Partials that are not what the whole text after them says. */
function unfaithful(messages: readonly StreamEvent[]): string[] {
  let buffer = ''
  return messages.flatMap((message) => {
    if (message.type === 'partial') buffer += message.content
    if (message.type !== 'text' && !endsExchange(message)) return []
    const shown = buffer
    buffer = ''
    // A message that was repeated as a whole is longer than what was seen of it before.
    const agrees = message.type !== 'text' || message.content.startsWith(shown)
    return agrees ? [] : [shown]
  })
}

/** The texts of the main thread inside turns, each once. */
function textsIn(entries: readonly Entry[]): string[] {
  let open = false
  return entries.flatMap(({ event }) => {
    if (event.type === 'turn.started' || event.type === 'turn.completed') open = event.type === 'turn.started'
    const said = open && event.type === 'text.completed' && event.parent === undefined && event.text !== ''
    return said ? [event.text] : []
  })
}

const count = (entries: readonly Entry[], is: (event: Entry['event']) => boolean) =>
  entries.filter(({ event }) => is(event)).length

test('there are recordings of several agents, with questions and broken streams among them', () => {
  expect(new Set(plays.map(({ agent }) => agent)).size).toBeGreaterThan(3)
  const all = plays.flatMap(({ entries }) => entries)
  expect(count(all, ({ type }) => type === 'request.opened')).toBeGreaterThan(20)
  expect(count(all, ({ type }) => type === 'message.discarded')).toBeGreaterThan(5)
})

describe.each(plays)('$name', ({ entries }) => {
  const messages = read(entries)

  test('has one end for each turn and for each question', () => {
    expect(exchangesIn(messages).flatMap(disorder)).toEqual([])
    const turns = count(entries, ({ type }) => type === 'turn.completed')
    const asked = count(entries, ({ type }) => type === 'request.opened')
    expect(messages.filter(endsExchange)).toHaveLength(turns + asked)
    if (messages.length > 0) expect(endsExchange(messages.at(-1) ?? {})).toBe(true)
  })

  test('emits every text once', () => {
    expect(unfaithful(messages)).toEqual([])
    const shown = exchangesIn(messages).flatMap(shownIn)
    // A half message that never came again has been seen, and cannot be taken back.
    if (count(entries, ({ type }) => type === 'message.discarded') === 0)
      expect(shown.join('')).toBe(textsIn(entries).join(''))
    else expect(shown).toEqual(expect.arrayContaining(textsIn(entries)))
  })

  test('has every call of a tool', () => {
    const told = messages.flatMap((message) => (message.type === 'tool_use' ? [message.tool] : []))
    // A call that is a question is told as that, whatever the agent calls it.
    const questions = entries.flatMap(({ event }) =>
      event.type === 'request.opened' && event.questions ? [event.toolId] : [],
    )
    const calls = entries.flatMap(({ event }) =>
      event.type === 'tool.started'
        ? [questions.includes(event.toolId) ? 'AskUserQuestion' : event.name]
        : [],
    )
    expect(calls.filter((name) => !told.includes(name))).toEqual([])
  })
})

test('a reply whose stream broke is emitted once', () => {
  const broken = plays.find(({ name }) => name === 'claude/drop')
  expect(shownIn(read(broken?.entries ?? []))).toEqual([
    'Hello from the fake model. This is a streamed reply in several deltas.',
  ])
})

test('a recording cut anywhere is a stream in order that ends', () => {
  fc.assert(
    fc.property(fc.constantFrom(...recordings), fc.nat(), (fixture, at) => {
      const messages = read(cutRecording(fixture, at))
      expect(exchangesIn(messages).flatMap(disorder)).toEqual([])
      if (messages.length > 0) expect(endsExchange(messages.at(-1) ?? {})).toBe(true)
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

test('parts of logs in any order never throw, and emit only valid messages', () => {
  const piece = fc
    .tuple(fc.constantFrom(...plays), fc.nat(), fc.nat(200))
    .map(([{ entries }, at, length]) => entries.slice(at % entries.length).slice(0, length))
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 4 }), (pieces) => {
      expect(() => read(pieces.flat())).not.toThrow()
    }),
    { numRuns: runs(20, 200) },
  )
})
