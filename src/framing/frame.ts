import type { BlobRef } from '../model/index.ts'
import { tryJson } from '../model/text/json.ts'
import type { LargeValue } from '../model/text/large-value.ts'

export type FrameStream = 'stdout' | 'stderr' | 'rpc' | 'sse' | 'http'

/** One unit of an agent's output, such as a line of stdout or the data of a server-sent event. */
export interface Frame {
  readonly stream: FrameStream
  /** The exact text that the agent wrote, except for its large values; empty when it is stored as a blob. */
  readonly text: string
  /** The parsed text; undefined when the text is not JSON or is nested too deeply. */
  readonly value?: unknown
  /** Values of a frame over the size limit, which `text` and `value` only refer to. */
  readonly large?: readonly LargeValue[]
  /** Set when the text exceeds the size limit and its structure cannot be read. */
  readonly blob?: BlobRef
}

/** `JSON.parse` accepts deeper values, but `JSON.stringify` overflows the stack on them. */
const MAX_DEPTH = 512

/** A level of nesting takes at least two characters, so shorter texts need no check. */
const SHALLOW_LENGTH = MAX_DEPTH * 2

/** Parses a text at the moment it is cut. Every frame has its own value: no two frames share an object. */
export function jsonFrame(stream: FrameStream, text: string): Frame {
  const value = tryJson(text)
  const mayBeDeep = text.length > SHALLOW_LENGTH && typeof value === 'object' && value !== null
  return { stream, text, value: mayBeDeep && isDeeperThan(value, MAX_DEPTH) ? undefined : value }
}

/** The frame of a stream as it was kept. */
export function storedFrame(stream: string, text: string): Frame {
  if (stream === 'stderr') return { stream, text }
  return jsonFrame(isParsed(stream) ? stream : 'stdout', text)
}

function isParsed(stream: string): stream is 'rpc' | 'sse' | 'http' {
  return stream === 'rpc' || stream === 'sse' || stream === 'http'
}

/** Recurses into objects only, because it runs on every long frame. */
function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const child of value) {
      if (typeof child === 'object' && child !== null && isDeeperThan(child, levels - 1)) return true
    }
    return false
  }
  const fields = value as Readonly<Record<string, unknown>>
  for (const key in fields) {
    const child = fields[key]
    if (typeof child === 'object' && child !== null && isDeeperThan(child, levels - 1)) return true
  }
  return false
}
