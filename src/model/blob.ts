import { z } from 'zod'
import type * as types from './blob.types.ts'

/** A reference to data that is too large for an event. The store keeps the data whole. */
export const BlobRef = z.strictObject({
  id: z.string().describe('Identifies the blob in its session.'),
  bytes: z.int().nonnegative().describe('The size in bytes.'),
})
export type BlobRef = types.BlobRef

/** Creates blobs while their data arrives. */
export interface BlobSink {
  /** Starts a new blob. */
  open(): BlobWriter
}

/** Writes one blob. */
export interface BlobWriter {
  /** Appends bytes. */
  write(chunk: Uint8Array): void
  /** Ends the blob and resolves with its reference. */
  close(): Promise<BlobRef>
}
