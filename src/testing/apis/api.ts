import type { JsonFields } from '../fields.ts'
import type { ApiId, ModelCall } from '../model-call.ts'
import type { NativeCall, StopReason, Tokens } from '../scenario.ts'

/** A complete reply, ready to be encoded for an API. */
export interface ModelReply {
  /** Part of every id in the response; unique per response. */
  readonly id: string
  readonly model: string
  /** The pieces of the thinking; empty if there is none. */
  readonly thinking: readonly string[]
  readonly text: readonly string[]
  readonly calls: readonly NativeCall[]
  readonly stop: StopReason
  readonly usage: Tokens
}

/** One message of an event stream. */
export interface ModelStreamMessage {
  readonly event?: string
  /** A string is sent unchanged, other values as JSON. */
  readonly data: object | string
  /** True if it contains output of the model; faults count these. */
  readonly isPiece?: boolean
}

export interface ModelProblem {
  readonly status: number
  readonly message: string
  readonly retryAfterSeconds?: number
}

/** The API of one vendor. */
export interface Api {
  readonly id: ApiId
  /** The path of a model call. */
  readonly path: RegExp
  /** The path that counts tokens, and its response. */
  readonly counting?: { readonly path: RegExp; answer(tokens: number): object }
  read(body: JsonFields, url: URL): ModelCall
  stream(emitted: ModelReply): ModelStreamMessage[]
  whole(emitted: ModelReply): object
  problem(problem: ModelProblem): object
  /** The message that reports a failure inside a stream. */
  failure(emitted: ModelReply, message: string): ModelStreamMessage
}

/** The id of a tool call by its index in the response. */
export function callId(prefix: string, emitted: ModelReply, index: number): string {
  return `${prefix}_${emitted.id}_${index}`
}

/** The arguments in two pieces, so that a client must join them. */
export function argumentPieces({ input }: NativeCall): string[] {
  const whole = typeof input === 'string' ? input : JSON.stringify(input)
  return pieces(whole, 2)
}

/** Splits text between characters. A short text has fewer pieces. */
export function pieces(text: string, count: number): string[] {
  const characters = Array.from(text)
  const size = Math.max(1, Math.ceil(characters.length / Math.max(1, count)))
  const cut: string[] = []
  for (let from = 0; from < characters.length; from += size)
    cut.push(characters.slice(from, from + size).join(''))
  return cut
}
