import type { DialectOptions, Message } from '../../../src/dialects/dialect.ts'
import { ues } from '../../../src/dialects/ues.ts'
import type { Event } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf } from '../entries.ts'

export type Of<Type extends Event['type']> = Extract<Event, { type: Type }>

export function sayWith(options: DialectOptions, ...events: Event[]): Message[] {
  const state = ues.initial(options)
  return entriesOf(...events).flatMap((entry) => ues.project(state, entry))
}

export const capabilities = { ...SAMPLES['session.started'].capabilities, thinking: 'summary' as const }
export const started: Of<'session.started'> = { ...SAMPLES['session.started'], agent: 'claude', capabilities }
export const begun: Event[] = [started, SAMPLES['turn.started']]
export const hello: Event = {
  type: 'session.updated',
  nativeSessionId: 'n1',
  agentVersion: '2.1',
  model: 'opus',
  tools: ['Bash', 'Read'],
}
export const completed = (more: Partial<Of<'turn.completed'>> = {}): Event => ({
  ...SAMPLES['turn.completed'],
  durationMs: 1439,
  ...more,
})
export const tool = { toolId: 't1', name: 'Bash', kind: 'execute' } as const

/** What is said after `init`, without what is the same for all messages. */
export const say = (...events: Event[]) =>
  sayWith({}, ...begun, hello, ...events)
    .slice(1)
    .map(({ type, payload, metadata }) => ({ type, payload, ...(metadata !== undefined && { metadata }) }))
export const typesOf = (messages: readonly Message[]) => messages.map(({ type }) => type)
