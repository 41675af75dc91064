import type { BlobRef } from '../blob.ts'

/** The default size limit of a frame in memory, and of one in the journal. */
export const FRAME_BYTES = 16 * 1024 * 1024

/** A value of a frame that is stored as a blob. */
export interface LargeValue {
  readonly blob: BlobRef
  /** What the frame contains in its place: the beginning of the value and a reference. */
  readonly text: string
  /** A digest of the whole value, before secrets were masked. */
  readonly digest: string
}

/** Stores the large values of frames. */
export interface ValueSink {
  open(): ValueWriter
}

/** Writes one large value. */
export interface ValueWriter {
  write(chunk: Uint8Array): void
  close(): Promise<LargeValue>
  /** Removes what was written so far. Call it instead of `close`. */
  discard(): void
}

/** Computes a digest of bytes that arrive in pieces. */
export interface Hash {
  update(chunk: Uint8Array): unknown
  digest(encoding: 'hex'): string
}

/** Keeps nothing, for output that no log has. */
export const NO_VALUES: ValueSink = {
  open: () => ({
    write: () => undefined,
    close: async () => ({ blob: { id: 'dropped', bytes: 0 }, text: '', digest: '' }),
    discard: () => undefined,
  }),
}
