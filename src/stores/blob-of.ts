import type { BlobRef, Event } from '../model/index.ts'

/** The blob that an event refers to, if any. */
export function blobOf(event: Event): BlobRef | undefined {
  return event.type === 'tool.completed' || event.type === 'native.unmapped' ? event.blob : undefined
}
