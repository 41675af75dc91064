import { z } from 'zod'

/** A reference to bytes too large for an event; the store keeps them whole. */
export const BlobRef = z.strictObject({ id: z.string(), bytes: z.int().nonnegative() })
export type BlobRef = z.infer<typeof BlobRef>

/** Where such bytes are streamed to while they arrive. */
export interface BlobSink {
  open(): BlobWriter
}

export interface BlobWriter {
  write(chunk: Uint8Array): void
  close(): Promise<BlobRef>
}
