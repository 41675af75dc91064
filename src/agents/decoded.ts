import type { ErrorCode } from '../model/index.ts'
import type { Said, Step, Write } from './agent.ts'

const NO_SAID: readonly Said[] = []
const NO_WRITES: readonly Write[] = []

/** A frame that is understood and carries nothing for the log. */
export const nothing: Step = { verdict: 'mapped', said: NO_SAID, writes: NO_WRITES }

/** A frame that became these events. */
export function say(...said: Said[]): Step {
  return { verdict: 'mapped', said, writes: NO_WRITES }
}

/** The same for a list that is already there. */
export function sayAll(said: readonly Said[]): Step {
  return said.length === 0 ? nothing : { verdict: 'mapped', said, writes: NO_WRITES }
}

/** What is to be written to the agent, with what is worth saying about it. */
export function send(writes: readonly Write[], said: readonly Said[] = NO_SAID): Step {
  return { verdict: 'mapped', said, writes }
}

/** A change of settings that holds from the next turn on. */
export const nextTurn: Step = { ...nothing, applies: 'next_turn' }

/** A change of settings that a running process cannot take: the next one is started with it. */
export const nextProcess: Step = { ...nothing, applies: 'next_process' }

/** One JSON message as a line. */
export function line(message: unknown): Write {
  return { kind: 'text', text: `${JSON.stringify(message)}\n` }
}

/** A command that this agent, or this launch of it, cannot take. */
export function refuse(code: ErrorCode, message: string): Step {
  return { verdict: 'mapped', said: NO_SAID, writes: NO_WRITES, refused: { code, message } }
}

/** A frame that no rule knows, or a part of it, kept whole; what its other parts say is told before. */
export function unmapped(nativeType: string, text: string, said: readonly Said[] = NO_SAID): Step {
  return {
    verdict: 'unmapped',
    said: [...said, { type: 'native.unmapped', nativeType, frame: text }],
    writes: NO_WRITES,
  }
}

/** A line of stdout that is not the agent's protocol. */
export function malformed(text: string): Step {
  return {
    verdict: 'malformed',
    said: [{ type: 'output.written', stream: 'stdout', line: text }],
    writes: NO_WRITES,
  }
}

/** A line over the size limit: the event points to its bytes. */
export function oversized(blob: { id: string; bytes: number }): Step {
  return {
    verdict: 'oversized',
    said: [{ type: 'native.unmapped', nativeType: 'oversized', blob }],
    writes: NO_WRITES,
  }
}
