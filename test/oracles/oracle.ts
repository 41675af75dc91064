/** What a recording holds, read without our codecs. */
export interface NativeRecording {
  /** The program's own messages in order: what it printed, or both directions of a transcript. */
  messages: readonly NativeMessage[]
  stderr: string
  exit: { code?: number | null | undefined; signal?: string | null | undefined }
}

export interface NativeMessage {
  direction: 'out' | 'in'
  value: unknown
}

/** One turn as the native lines tell it; a field is left out where they cannot. */
export interface OracleTurn {
  outcome?: string
  text?: string
  tools?: { name: string; status: string }[]
  usage?: Record<string, number>
}

/**
 * A small filter over native lines that computes what a turn came to, written apart from the codec: where the two
 * agree, one of them being wrong is not enough.
 */
export type Oracle = (recording: NativeRecording) => { turns: OracleTurn[] }
