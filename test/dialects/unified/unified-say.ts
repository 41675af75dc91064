import type { Message } from '../../../src/dialects/dialect.ts'
import { unified } from '../../../src/dialects/unified.ts'
import type { Event } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf, projectAll } from '../entries.ts'

export const started: Event = { ...SAMPLES['session.started'], agent: 'claude' }
export const turn = (number: number): Event => ({ ...SAMPLES['turn.started'], turn: number })
export const completed = (more: Partial<Extract<Event, { type: 'turn.completed' }>> = {}): Event => ({
  ...SAMPLES['turn.completed'],
  ...more,
})

/** Without what every message has. */
const bare = (messages: Message[]) => messages.map(({ id, sessionId, timestamp, ...body }) => body)
export const read = (...events: Event[]) => bare(projectAll(unified, entriesOf(...events)))

/** What is said of these events inside a turn. */
export const say = (...events: Event[]) => read(started, turn(1), ...events).slice(2)

export const types = (messages: { type?: unknown }[]) => messages.map(({ type }) => type)
