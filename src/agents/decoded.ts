import type { ErrorCode } from '../model/index.ts'
import type { Decoded, Emitted, Write } from './agent.ts'

const NOTHING_EMITTED: readonly Emitted[] = []
const NO_WRITES: readonly Write[] = []

/** A frame that is understood and carries nothing for the log. */
export const nothing: Decoded = { verdict: 'mapped', emitted: NOTHING_EMITTED, writes: NO_WRITES }

/** A frame that became these events. */
export function emit(...emitted: Emitted[]): Decoded {
  return { verdict: 'mapped', emitted, writes: NO_WRITES }
}

/** The same for a list that is already there. */
export function emitAll(emitted: readonly Emitted[]): Decoded {
  return emitted.length === 0 ? nothing : { verdict: 'mapped', emitted, writes: NO_WRITES }
}

/** What is to be written to the agent, with what is worth saying about it. */
export function send(writes: readonly Write[], emitted: readonly Emitted[] = NOTHING_EMITTED): Decoded {
  return { verdict: 'mapped', emitted, writes }
}

/** A change of settings that holds from the next turn on. */
export const nextTurn: Decoded = { ...nothing, applies: 'next_turn' }

/** A change of settings that a running process cannot take: the next one is started with it. */
export const nextProcess: Decoded = { ...nothing, applies: 'next_process' }

/** One JSON message as a line. */
export function line(message: unknown): Write {
  return { kind: 'text', text: `${JSON.stringify(message)}\n` }
}

/** A command that this agent, or this launch of it, cannot take. */
export function refuse(code: ErrorCode, message: string): Decoded {
  return { verdict: 'mapped', emitted: NOTHING_EMITTED, writes: NO_WRITES, refused: { code, message } }
}

/** A frame that no rule knows, or a part of it, kept whole; what its other parts say is told before. */
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

/** A line of stdout that is not the agent's protocol. */
export function malformed(text: string): Decoded {
  return {
    verdict: 'malformed',
    emitted: [{ type: 'output.written', stream: 'stdout', line: text }],
    writes: NO_WRITES,
  }
}

/** A line over the size limit: the event points to its bytes. */
export function oversized(blob: { id: string; bytes: number }): Decoded {
  return {
    verdict: 'oversized',
    emitted: [{ type: 'native.unmapped', nativeType: 'oversized', blob }],
    writes: NO_WRITES,
  }
}
