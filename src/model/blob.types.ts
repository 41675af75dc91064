// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** A reference to data that is too large for an event. The store keeps the data whole. */
export type BlobRef = {
  /** Identifies the blob in its session. */
  id: string
  /** The size in bytes. */
  bytes: number
}
