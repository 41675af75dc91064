import { join } from 'node:path'
import type { Entry } from '../../src/model/index.ts'
import { type Fixture, fixtures } from './fixtures.ts'
import { frameNames, isDropped, leavesOf, ownFrames } from './leaves.ts'

const AGENTS = join(import.meta.dirname, '../../src/agents')

/** What each agent leaves out on purpose, with the reason. */
export const droppedBy = new Map<string, Readonly<Record<string, string>>>()
for (const { agent } of fixtures) {
  const file = join(AGENTS, agent, 'ignored-fields.ts')
  if (!droppedBy.has(agent)) droppedBy.set(agent, (await import(file)).dropped)
}

/** Strings of a recording that are in no event, and in no field that is named as dropped. */
export function lostStrings(fixture: Fixture, entries: readonly Entry[]): string[] {
  const dropped = droppedBy.get(fixture.agent) ?? {}
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
