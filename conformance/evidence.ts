import type { Entry, Event } from '../src/index.ts'
import { eventsOf } from './stage.ts'

/** Checks that hold for the log of every scenario. Each line names a broken promise. */
export function brokenPromises(log: readonly Entry[]): string[] {
  const events = log.map(({ event }) => event)
  return [...gaps(log), ...terminals(events), ...unknown(events), ...tools(events), ...texts(events)]
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
