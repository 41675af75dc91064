import { daemon } from '../../../src/dialects/daemon.ts'
import type { DialectOptions } from '../../../src/dialects/dialect.ts'
import type { Event } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf } from '../entries.ts'

/** Everything said about these events; `raw` is the frame that each of them came from. */
export function sayWith(options: DialectOptions, raw: string | undefined, ...events: Event[]) {
  const state = daemon.initial(options)
  return entriesOf(...events).flatMap((entry) => daemon.project(state, entry, raw))
}

export const begun: Event[] = [SAMPLES['session.started'], SAMPLES['turn.started']]
export const hello: Event = { type: 'session.updated', nativeSessionId: 'sdk-123', model: 'sonnet' }
export const system = { type: 'system', subtype: 'init', session_id: 'sdk-123', model: 'sonnet' }
export const result = { type: 'result', session_id: 'sdk-123' }

/** What is said after the handshake of an open turn. */
export const say = (...events: Event[]) => sayWith({}, undefined, ...begun, hello, ...events).slice(1)

export const delta = (messageId: string, text: string): Event => ({ type: 'text.delta', messageId, text })
export const whole = (messageId: string, text: string): Event => ({ type: 'text.completed', messageId, text })
export const bash = { toolId: 't1', name: 'Bash', kind: 'execute' } as const
export const completed = (more: Partial<Extract<Event, { type: 'turn.completed' }>> = {}): Event => ({
  ...SAMPLES['turn.completed'],
  durationMs: 1439,
  ...more,
})
export const request = (more: Partial<Extract<Event, { type: 'request.opened' }>>): Event => ({
  ...SAMPLES['request.opened'],
  ...more,
})
export const colours = request({
  kind: 'question',
  tool: 'AskUserQuestion',
  questions: [
    { id: 'q1', text: 'Which colour?', options: [{ label: 'Red', description: 'warm' }, { label: 'Blue' }] },
    { id: 'q2', header: 'Size', text: 'Which sizes?', options: [], multiple: true },
  ],
})
