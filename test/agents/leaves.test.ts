import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decodeFixture, type Fixture, fixtures } from './fixtures.ts'
import { frameNames, isDropped, leavesOf, ownFrames } from './leaves.ts'

const AGENTS = join(import.meta.dirname, '../../src/agents')
const tables = new Map<string, Readonly<Record<string, string>>>()
for (const { agent } of fixtures) {
  const file = join(AGENTS, agent, 'dropped.ts')
  if (!tables.has(agent)) tables.set(agent, existsSync(file) ? (await import(file)).dropped : {})
}

test.each(fixtures)('$name: every string is in an event, or its field is named as dropped', (fixture) => {
  expect(lostStrings(fixture)).toEqual([])
})

test('every field that is named as dropped has a reason', () => {
  for (const table of tables.values()) {
    for (const [field, reason] of Object.entries(table))
      expect({ field, words: reason.split(' ').length > 1 }).toEqual({ field, words: true })
  }
})

function lostStrings(fixture: Fixture): string[] {
  const { entries } = decodeFixture(fixture)
  const dropped = tables.get(fixture.agent) ?? {}
  const carried = new Set<string>()
  let all = ''
  for (const { event } of entries) {
    for (const { value } of leavesOf(event)) {
      if (!carried.has(value)) all += `${value}\n`
      carried.add(value)
    }
  }
  // Deltas carry a text in pieces that only meet in the whole.
  const lost = new Set<string>()
  for (const frame of framesOf(fixture)) {
    const names = frameNames(frame)
    for (const leaf of leavesOf(frame)) {
      if (carried.has(leaf.value) || isDropped(leaf, names, dropped) || all.includes(leaf.value)) continue
      lost.add(`${names[0] ?? '?'} ${leaf.path.join('.')}: ${leaf.value.slice(0, 80)}`)
    }
  }
  return [...lost]
}

function framesOf({ lines }: Fixture): unknown[] {
  const messages = lines.map((line) => {
    const parsed = parse(line)
    if (typeof parsed !== 'object' || parsed === null || !('dir' in parsed) || !('msg' in parsed))
      return { dir: 'out', msg: parsed }
    return { dir: parsed.dir, msg: parsed.msg }
  })
  return ownFrames(messages)
}

/** A line that is not JSON is a string as a whole. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line.trimEnd()
  }
}
