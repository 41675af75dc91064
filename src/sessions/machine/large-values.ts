import type { Decoded, Emitted } from '../../agents/agent.ts'
import { BLOB_REFERENCE, blobReference } from '../../model/blob.ts'
import type { BlobRef, Event } from '../../model/index.ts'
import type { LargeValue } from '../../model/text/large-value.ts'

/** Takes an event with the turn it belongs to, the number of the frame it came from, and the blobs it refers to. */
export type Emit = (
  event: Event,
  turn: number | undefined,
  native: number | undefined,
  blobs?: readonly BlobRef[],
) => void

/** The large values that the frames of one process refer to. An event may contain one long after its frame. */
export class LargeValues {
  /** By the reference that a text contains. */
  readonly #known = new Map<string, LargeValue>()
  /** Blobs that no event of their frame refers to. The next entry lists them, so that none is lost. */
  readonly #unnamed: BlobRef[] = []

  /** Takes the values of a frame and what it was decoded to. */
  add(values: readonly LargeValue[], emitted: readonly Emitted[]): void {
    for (const value of values) this.#known.set(blobReference(value.blob), value)
    const named = new Set(emitted.flatMap((event) => this.#named(event)))
    this.#unnamed.push(...values.filter((value) => !named.has(value)).map(({ blob }) => blob))
  }

  clear(): void {
    this.#known.clear()
  }

  /** The blobs that the entry of an event lists, if any. */
  in(event: Event): BlobRef[] | undefined {
    if (this.#known.size === 0 && this.#unnamed.length === 0) return undefined
    const found = new Set([...this.#named(event).map(({ blob }) => blob), ...this.#unnamed.splice(0)])
    return found.size === 0 ? undefined : [...found]
  }

  /** A JSON text with the digest of each large value in its place, so that a digest of it covers the values. */
  digested(json: string): string {
    if (this.#known.size === 0) return json
    return json.replaceAll(BLOB_REFERENCE, (reference) => this.#known.get(reference)?.digest ?? reference)
  }

  #named(event: Emitted | Event): LargeValue[] {
    const references = [...textsOf(event)].flatMap((text) => text.match(BLOB_REFERENCE) ?? [])
    return references.flatMap((reference) => this.#known.get(reference) ?? [])
  }
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) yield* textsOf(child)
  }
}

/** A frame over the size limit that cannot be read: the event refers to its bytes. */
export function oversized(blob: BlobRef): Decoded {
  const kept: Emitted = { type: 'native.unmapped', nativeType: 'oversized', blob }
  return { verdict: 'oversized', emitted: [kept], writes: [] }
}
