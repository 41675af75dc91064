import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isFields } from '../../../src/agents/kit/fields.ts'
import { frameNames, type SilentFields, SilentList } from '../../../src/agents/kit/silent-fields.ts'
import type { Entry } from '../../../src/model/index.ts'
import { type Fixture, fixtures } from '../fixtures.ts'
import { leavesOf, ownFrames } from './leaves.ts'

const AGENTS = join(import.meta.dirname, '../../../src/agents')

/** What each agent leaves out on purpose, with the reason. */
export const droppedBy = new Map<string, SilentFields>()
export const lists = new Map<string, SilentList>()
for (const { agent } of fixtures) {
  if (droppedBy.has(agent)) continue
  const own = join(AGENTS, agent === 'opencode2' ? join('opencode', agent) : agent, 'ignored-fields.ts')
  // An agent without a list is described by its protocol alone.
  const list = existsSync(own) ? own : join(AGENTS, 'protocols', agent, 'ignored-fields.ts')
  const { dropped } = await import(list)
  droppedBy.set(agent, dropped)
  lists.set(agent, new SilentList(dropped))
}

/** What became of the strings of a recording. */
export interface Leaves {
  total: number
  inEvents: number
  silent: number
  /** In no event, and in no field that is named as dropped. */
  lost: readonly string[]
}

export function leavesIn(fixture: Fixture, entries: readonly Entry[]): Leaves {
  const carried = new Set<string>()
  let all = ''
  for (const { event } of entries) {
    for (const { value } of leavesOf(event)) {
      if (!carried.has(value)) all += `${value}\n`
      carried.add(value)
    }
  }
  // Deltas carry a text in pieces that only meet in the whole.
  const isCarried = (value: string) => carried.has(value) || all.includes(value)
  const lost = new Set<string>()
  let [total, inEvents] = [0, 0]
  for (const frame of ownOf(messagesOf(fixture))) {
    for (const { value } of leavesOf(frame)) {
      total++
      if (isCarried(value)) inEvents++
    }
    for (const { path, value } of unlisted(fixture.agent, frame, isCarried))
      lost.add(`${frameNames(asFrame(frame))[0] ?? '?'} ${path.join('.')}: ${value.slice(0, 80)}`)
  }
  return { total, inEvents, silent: total - inEvents - lost.size, lost: [...lost] }
}

function unlisted(agent: string, frame: unknown, isCarried: (value: string) => boolean) {
  return lists.get(agent)?.unlisted(asFrame(frame), (value) => value !== '' && !isCarried(value)) ?? []
}

const asFrame = (frame: unknown) => (isFields(frame) ? frame : { line: frame })

interface Message {
  dir: unknown
  msg: unknown
}

/** The lines of a recording, each with its direction. */
export function messagesOf({ lines }: Fixture): Message[] {
  return lines.map((line) => {
    const parsed = parse(line)
    if (typeof parsed !== 'object' || parsed === null || !('dir' in parsed) || !('msg' in parsed))
      return { dir: 'out', msg: parsed }
    return { dir: parsed.dir, msg: parsed.msg }
  })
}

/** The frames of the agent that are about the recorded session, in its own turns. */
export function ownOf(messages: readonly Message[]): unknown[] {
  return withoutForeign(ownFrames(messages))
}

interface SessionFrame {
  type?: string
  data?: { sessionID?: string; parentID?: string }
}

/** Without the events of sessions beside the recorded one and its children, which one server reports together. */
function withoutForeign(frames: readonly unknown[]): unknown[] {
  const family = new Set<string>()
  const known = (frame: unknown): SessionFrame => (typeof frame === 'object' && frame !== null ? frame : {})
  return frames.filter((frame) => {
    const { type, data: { sessionID, parentID } = {} } = known(frame)
    if (sessionID === undefined) return true
    const isOwn = family.size === 0 || (parentID !== undefined && family.has(parentID))
    if (type === 'session.created' && isOwn) family.add(sessionID)
    return family.size === 0 || family.has(sessionID)
  })
}

/** A line that is not JSON is a string as a whole. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line.trimEnd()
  }
}
