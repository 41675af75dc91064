import type { ErrorCode } from '../../model/index.ts'
import type { Decoded, Emitted, Write } from '../agent.ts'

const NOTHING_EMITTED: readonly Emitted[] = []
const NO_WRITES: readonly Write[] = []

/** A frame that was understood and produces no event. */
export const nothing: Decoded = { verdict: 'mapped', emitted: NOTHING_EMITTED, writes: NO_WRITES }

/** A frame of another session, of an ended turn, or of a history that an earlier log has. */
export const skipped: Decoded = { ...nothing, skipped: true }

/** A frame whose content a later event reports, unless these have it. */
export function held(emitted: readonly Emitted[]): Decoded {
  return emitted.length === 0 ? skipped : { ...emitAll(emitted), skipped: true }
}

/** A frame that produced these events. */
export function emit(...emitted: Emitted[]): Decoded {
  return { verdict: 'mapped', emitted, writes: NO_WRITES }
}

/** Like `emit`, for an existing list. */
export function emitAll(emitted: readonly Emitted[]): Decoded {
  return emitted.length === 0 ? nothing : { verdict: 'mapped', emitted, writes: NO_WRITES }
}

/** Writes to the agent, with events that report them. */
export function send(writes: readonly Write[], emitted: readonly Emitted[] = NOTHING_EMITTED): Decoded {
  return { verdict: 'mapped', emitted, writes }
}

/** A settings change that takes effect with the next turn. */
export const nextTurn: Decoded = { ...nothing, applies: 'next_turn' }

/** A settings change that a running process cannot apply: the next process starts with it. */
export const nextProcess: Decoded = { ...nothing, applies: 'next_process' }

/** Encodes one JSON message as a line. */
export function line(message: unknown): Write {
  return { kind: 'text', text: `${JSON.stringify(message)}\n` }
}

/** Rejects a command that this agent or launch does not support. */
export function refuse(code: ErrorCode, message: string): Decoded {
  return { verdict: 'mapped', emitted: NOTHING_EMITTED, writes: NO_WRITES, refused: { code, message } }
}

/** A frame, or a part of it, that no rule knows: kept whole, after the events of its other parts. */
export function unmapped(
  nativeType: string,
  text: string,
  emitted: readonly Emitted[] = NOTHING_EMITTED,
): Decoded {
  return {
    verdict: 'unmapped',
    emitted: [...emitted, { type: 'native.unmapped', nativeType, frame: text }],
    writes: NO_WRITES,
  }
}

/** A line of stdout that is not part of the agent's protocol. */
export function malformed(text: string): Decoded {
  return {
    verdict: 'malformed',
    emitted: [{ type: 'output.written', stream: 'stdout', line: text }],
    writes: NO_WRITES,
  }
}
