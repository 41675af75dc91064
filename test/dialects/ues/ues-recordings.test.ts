import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AgentEvent } from '../../../src/dialects/ues/ues-event.ts'
import { ues } from '../../../src/dialects/ues.ts'
import type { Entry } from '../../../src/model/index.ts'
import { runs } from '../../long.ts'
import { projectAll } from '../entries.ts'
import { cutRecording, plays, recordings } from '../plays.ts'

const AgentEvents = AgentEvent.array()
const read = (entries: readonly Entry[]) => AgentEvents.parse(projectAll(ues, entries))

/** The types of each run; a run begins with `init`. */
function runsIn(messages: readonly AgentEvent[]): string[][] {
  const runs: string[][] = []
  for (const { type } of messages) {
    if (type === 'init' || runs.length === 0) runs.push([])
    runs.at(-1)?.push(type)
  }
  return runs
}

/** Runs that do not begin with their one `init` and end with their one `done`. */
const broken = (messages: readonly AgentEvent[]) =>
  runsIn(messages).filter((types) => types[0] !== 'init' || types.indexOf('done') !== types.length - 1)

/** The text of each message, as its pieces say it and as it is said whole. */
function textsIn(messages: readonly AgentEvent[]) {
  const pieces = new Map<unknown, string>()
  const wholes = new Map<unknown, string>()
  for (const { type, payload, metadata } of messages) {
    const id = metadata?.messageId
    if (type === 'text_delta') pieces.set(id, (pieces.get(id) ?? '') + payload.delta)
    if (type === 'text') wholes.set(id, (wholes.get(id) ?? '') + payload.content)
    if (type === 'mainstem:discarded') pieces.delete(payload.messageId)
  }
  return { pieces, wholes }
}

const has = (entries: readonly Entry[], type: string) => entries.filter(({ event }) => event.type === type)

test('there are recordings of several agents', () => {
  expect(new Set(plays.map(({ agent }) => agent)).size).toBeGreaterThan(3)
})

describe.each(plays)('$name', ({ entries }) => {
  const messages = read(entries)

  test('is a run for each turn, from its init to its done', () => {
    expect(broken(messages)).toEqual([])
    expect(runsIn(messages)).toHaveLength(has(entries, 'turn.started').length)
  })

  test('emits every text once, as deltas and whole', () => {
    const { pieces, wholes } = textsIn(messages)
    for (const [id, text] of pieces) expect([id, wholes.get(id)]).toEqual([id, text])
    const told = [...wholes.values()].join('')
    const said = entries.flatMap(({ event }) => (event.type === 'text.completed' ? [event.text] : []))
    // A sub-agent can go on after the last run.
    expect(said.join('').startsWith(told)).toBe(true)
    const main = entries.flatMap(({ event }) =>
      event.type === 'text.completed' && event.parent === undefined && event.text !== '' ? [event.text] : [],
    )
    expect([...wholes.values()]).toEqual(expect.arrayContaining(main))
  })

  test('reports a failure once', () => {
    const errors = messages.flatMap((message) => (message.type === 'error' ? [message] : []))
    const fatal = errors.filter(({ payload }) => !payload.recoverable)
    // Each retry is a failure before the last one.
    const repeated = errors.filter(
      ({ payload, metadata }) =>
        payload.recoverable &&
        metadata?.kind !== 'retry' &&
        fatal.some((end) => end.payload.message.includes(payload.message.trim())),
    )
    expect(repeated).toEqual([])
  })

  test('counts the tools of its main thread', () => {
    const counted = messages.map((message) => (message.type === 'done' ? message.payload.usage.toolUses : 0))
    const calls = messages.filter(
      ({ type, metadata }) => type === 'tool_use' && metadata?.parent === undefined,
    )
    expect(counted.reduce((sum, uses) => sum + uses, 0)).toBe(calls.length)
  })
})

test('the handshake of an agent reaches its init, also when hooks run before it', () => {
  const hooks = plays.find(({ name }) => name === 'claude/hooks')
  const [init, hook] = read(hooks?.entries ?? [])
  expect(init).toMatchObject({ type: 'init', agent: 'claude-code', payload: { model: 'claude-opus-5-5' } })
  expect(hook?.type).toBe('claude-code:hook')
})

test('a recording cut anywhere is whole runs', () => {
  fc.assert(
    fc.property(fc.constantFrom(...recordings), fc.nat(), (fixture, at) => {
      expect(broken(read(cutRecording(fixture, at)))).toEqual([])
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

test('parts of logs in any order never throw, and emit nothing outside a run', () => {
  const piece = fc
    .tuple(fc.constantFrom(...plays), fc.nat(), fc.nat(200))
    .map(([{ entries }, at, length]) => entries.slice(at % entries.length).slice(0, length))
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 4 }), (pieces) => {
      const runs = runsIn(read(pieces.flat()))
      for (const types of runs) expect(types[0]).toBe('init')
      for (const types of runs.slice(0, -1)) expect(types.at(-1)).toBe('done')
    }),
    { numRuns: runs(20, 200) },
  )
})
