import type { BlobRef } from './blob.ts'
import type { Entry } from './entry.ts'

/** The blobs that an entry refers to. */
export function blobsOf({ event, blobs = [] }: Entry): readonly BlobRef[] {
  const own = event.type === 'tool.completed' || event.type === 'native.unmapped' ? event.blob : undefined
  return own ? [own, ...blobs.filter(({ id }) => id !== own.id)] : blobs
}
