import * as z from 'zod'
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
  /** Removes a blob that no entry refers to. */
  remove(ref: BlobRef): Promise<void>
}

/** Writes one blob. */
export interface BlobWriter {
  /** Appends bytes. */
  write(chunk: Uint8Array): void
  /** Ends the blob and resolves with its reference. */
  close(): Promise<BlobRef>
  /** Removes what was written so far. Call it instead of `close`. */
  discard(): void
}

/** The text that represents a blob in an event. */
export function blobReference({ id, bytes }: BlobRef): string {
  return `[${bytes} bytes in blob ${id}]`
}

/** What looks like a reference of `blobReference`. */
export const BLOB_REFERENCE: RegExp = /\[\d+ bytes in blob [^\]\s]+\]/g
