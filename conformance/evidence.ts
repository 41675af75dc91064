import { isDeepStrictEqual } from 'node:util'
import type { Entry, Event } from '../src/index.ts'
import { eventsOf } from './stage.ts'

/** Checks that hold for the log of every scenario. Each line names a broken promise. */
export function brokenPromises(log: readonly Entry[]): string[] {
  const events = log.map(({ event }) => event)
  return [
    ...gaps(log),
    ...terminals(events),
    ...unknown(events),
    ...tools(events),
    ...texts(events),
    ...unnamedRequests(events),
    ...strayRequests(events),
  ]
}

function gaps(log: readonly Entry[]): string[] {
  const at = log.findIndex(({ seq }, index) => seq !== index + 1)
  return at === -1 ? [] : [`entry ${at + 1} has the number ${log[at]?.seq}`]
}

/** Every turn that began or waited ends exactly once. */
function terminals(events: readonly Event[]): string[] {
  const begun = [...eventsOf(events, 'turn.queued'), ...eventsOf(events, 'turn.started')]
  const ended = Map.groupBy(eventsOf(events, 'turn.completed'), ({ turn }) => turn)
  return [...new Set(begun.map(({ turn }) => turn))]
    .map((turn) => [turn, ended.get(turn)?.length ?? 0] as const)
    .filter(([, count]) => count !== 1)
    .map(([turn, count]) => `turn ${turn} has ${count} terminal events`)
}

/** Every frame is accounted for: none that no rule knows. */
function unknown(events: readonly Event[]): string[] {
  return eventsOf(events, 'native.unmapped').map(({ nativeType }) => `no rule knows ${nativeType}`)
}

function tools(events: readonly Event[]): string[] {
  const ended = Map.groupBy(eventsOf(events, 'tool.completed'), ({ toolId }) => toolId)
  return eventsOf(events, 'tool.started')
    .filter(({ toolId }) => ended.get(toolId)?.length !== 1)
    .map(({ name, toolId }) => `the call of ${name} ended ${ended.get(toolId)?.length ?? 0} times`)
}

/** The pieces of a message are its text, unless it was dropped. */
function texts(events: readonly Event[]): string[] {
  const dropped = new Set(eventsOf(events, 'message.discarded').map(({ messageId }) => messageId))
  const whole = eventsOf(events, 'text.completed').map(({ messageId, text }) => [messageId, text] as const)
  return [...Map.groupBy(eventsOf(events, 'text.delta'), ({ messageId }) => messageId)]
    .filter(([messageId]) => !dropped.has(messageId))
    .map(([messageId, deltas]) => [messageId, deltas.map(({ text }) => text).join('')] as const)
    .filter(([messageId, joined]) => !whole.some(([id, text]) => id === messageId && text === joined))
    .map(([messageId]) => `the pieces of message ${messageId} are not its text`)
}

/** Callbacks and hooks decide by the name that is the same for every agent. */
function unnamedRequests(events: readonly Event[]): string[] {
  return eventsOf(events, 'request.opened')
    .filter(({ tool, canonicalName }) => tool !== undefined && canonicalName === undefined)
    .map(({ tool }) => `a request for ${tool} has no canonical name`)
}

interface Call {
  name: string
  input: unknown
  /** A request showed this input. */
  isShown: boolean
}

/** A request names the call that runs, with its input; what it showed of the input does not change afterwards. */
export function strayRequests(events: readonly Event[]): string[] {
  const calls = new Map<string, Call>()
  const broken: string[] = []
  const decided = new Map<string, string>()
  for (const event of events) {
    const call = 'toolId' in event ? calls.get(event.toolId ?? '') : undefined
    switch (event.type) {
      case 'tool.started':
        calls.set(event.toolId, { name: event.name, input: event.input, isShown: false })
        break
      case 'tool.updated':
        if (!call || !('input' in event)) break
        if (call.isShown && !extendsInput(call.input, event.input))
          broken.push(`the input of ${call.name} changed after its request`)
        call.input = event.input
        break
      case 'request.opened':
        if (event.toolId === undefined) break
        decided.set(event.requestId, event.toolId)
        broken.push(...strayRequest(event, call))
        if (call) call.isShown = true
        break
      case 'request.resolved': {
        const answered = calls.get(decided.get(event.requestId) ?? '')
        if (answered && event.input !== undefined) answered.input = event.input
        break
      }
    }
  }
  return broken
}

function strayRequest(request: Extract<Event, { type: 'request.opened' }>, call: Call | undefined): string[] {
  const { tool, input, requestId } = request
  if (!call) return [`the request ${requestId} for ${tool} names a call that has not started`]
  if (tool !== call.name) return [`a request for ${call.name} names ${tool}`]
  return isDeepStrictEqual(input, call.input)
    ? []
    : [`a request for ${tool} does not show the input of its call`]
}

/** Some agents announce a call with its request, and add fields such as a description when it runs. */
function extendsInput(shown: unknown, now: unknown): boolean {
  if (typeof shown !== 'object' || typeof now !== 'object' || shown === null || now === null)
    return isDeepStrictEqual(shown, now)
  const later = new Map(Object.entries(now))
  return Object.entries(shown).every(([key, value]) => isDeepStrictEqual(later.get(key), value))
}
