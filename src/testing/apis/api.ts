import type { Fields } from '../fields.ts'
import type { ApiId, ModelCall } from '../model-call.ts'
import type { NativeCall, StopReason, Tokens } from '../scenario.ts'

/** A reply with everything settled, ready to be put into an API's own words. */
export interface Emitted {
  /** Part of every id in the answer; no two answers share it. */
  readonly id: string
  readonly model: string
  /** Thinking and text come in pieces; without a piece there is none. */
  readonly thinking: readonly string[]
  readonly text: readonly string[]
  readonly calls: readonly NativeCall[]
  readonly stop: StopReason
  readonly usage: Tokens
}

/** One message of an event stream. */
export interface StreamMessage {
  readonly event?: string
  /** Text is written as it is, anything else as JSON. */
  readonly data: object | string
  /** It brings a piece of what the model says; faults count these. */
  readonly isPiece?: boolean
}

export interface Problem {
  readonly status: number
  readonly message: string
  readonly retryAfterSeconds?: number
}

/** One vendor's way to ask and to answer. */
export interface Api {
  readonly id: ApiId
  /** The path of a model call. */
  readonly path: RegExp
  /** The path on which tokens are counted, and the answer. */
  readonly counting?: { readonly path: RegExp; answer(tokens: number): object }
  read(body: Fields, url: URL): ModelCall
  stream(said: Emitted): StreamMessage[]
  whole(said: Emitted): object
  problem(problem: Problem): object
  /** The message that tells of a failure inside a stream. */
  failure(said: Emitted, message: string): StreamMessage
}

/** The id of the call at this place in the answer. */
export function callId(prefix: string, said: Emitted, index: number): string {
  return `${prefix}_${said.id}_${index}`
}

/** Arguments as they are streamed: in two pieces, so that a reader has to put them together. */
export function argumentPieces({ input }: NativeCall): string[] {
  const whole = typeof input === 'string' ? input : JSON.stringify(input)
  return pieces(whole, 2)
}

/** Cuts between characters, never inside one. Text that is shorter has fewer pieces. */
export function pieces(text: string, count: number): string[] {
  const characters = Array.from(text)
  const size = Math.max(1, Math.ceil(characters.length / Math.max(1, count)))
  const cut: string[] = []
  for (let from = 0; from < characters.length; from += size)
    cut.push(characters.slice(from, from + size).join(''))
  return cut
}
