import { BLOB_REFERENCE, blobReference } from '../model/blob.ts'
import { blobsOf } from '../model/entry-blobs.ts'
import type { BlobRef, BlobSink, BlobWriter, Entry, Event } from '../model/index.ts'
import type { JournalFrame } from '../stores/store.ts'
import { type BlobPart, damage } from './export-check.ts'

/**
 * The blobs of one import. Each gets a new id, and entries keep references to these blobs only: one to a blob of the
 * store would make the bytes of another session readable.
 */
export class ImportBlobs {
  readonly #sink: BlobSink
  /** The new references, by the ids of the export. */
  readonly #carried = new Map<string, BlobRef>()
  /** The new texts of references, by those of the export. */
  readonly #texts = new Map<string, string>()
  #open: { part: BlobRef; at: number; writer: BlobWriter } | undefined
  /** Ids of the export, of blobs that the next entry must refer to. */
  readonly #unnamed = new Set<string>()
  /** Blobs that no stored entry refers to yet. */
  readonly #unstored = new Set<BlobRef>()

  constructor(sink: BlobSink) {
    this.#sink = sink
  }

  async take({ data, at, id, bytes }: BlobPart): Promise<void> {
    if (this.#carried.has(id)) throw damage(`blob ${id} is there twice`)
    this.#open ??= { part: { id, bytes }, at: 0, writer: this.#sink.open() }
    const { part, writer } = this.#open
    if (part.id !== id || part.bytes !== bytes || this.#open.at !== at || at + data.length > bytes)
      throw damage(`this part of blob ${id} does not follow the line before`)
    writer.write(data)
    this.#open.at += data.length
    if (this.#open.at < bytes) return
    this.#open = undefined
    const ref = await writer.close()
    this.#carried.set(id, ref)
    this.#texts.set(blobReference(part), blobReference(ref))
    this.#unnamed.add(id)
    this.#unstored.add(ref)
  }

  /** The entry with the new references, and without those to blobs that the import has not. */
  entry(entry: Entry): Entry {
    for (const { id } of blobsOf(entry)) this.#unnamed.delete(id)
    this.checkNamed()
    const { blobs, ...rest } = this.#renamed(entry)
    const event = this.#withOwnBlob(rest.event)
    const own = blobs?.flatMap((ref) => this.#refOf(ref) ?? []) ?? []
    return { ...rest, event, ...(own.length > 0 && { blobs: own }) }
  }

  frame(frame: JournalFrame): JournalFrame {
    return this.#texts.size === 0 ? frame : { ...frame, text: this.#text(frame.text) }
  }

  /** Refuses a blob that is incomplete, or that its entry does not refer to. */
  checkNamed(): void {
    if (this.#open) throw damage(`blob ${this.#open.part.id} is incomplete`)
    for (const id of this.#unnamed) throw damage(`the entry after blob ${id} does not refer to it`)
  }

  /** Entries that refer to all blobs so far are stored. */
  stored(): void {
    this.#unstored.clear()
  }

  /** Removes blobs that no stored entry refers to. */
  async discard(): Promise<void> {
    this.#open?.writer.discard()
    for (const ref of this.#unstored) await this.#sink.remove(ref)
  }

  #withOwnBlob(event: Event): Event {
    if (!('blob' in event) || !event.blob) return event
    const own = this.#refOf(event.blob)
    if (own) return { ...event, blob: own }
    const { blob: _, ...rest } = event
    return rest
  }

  #refOf({ id, bytes }: BlobRef): BlobRef | undefined {
    const ref = this.#carried.get(id)
    if (ref && ref.bytes !== bytes)
      throw damage(`blob ${id} has ${ref.bytes} bytes, and its entry says ${bytes}`)
    return ref
  }

  #text(text: string): string {
    return text.replaceAll(BLOB_REFERENCE, (reference) => this.#texts.get(reference) ?? reference)
  }

  /** The same value with the new references in its texts. */
  #renamed<T>(value: T): T {
    if (this.#texts.size === 0) return value
    return JSON.parse(JSON.stringify(value), (_, text) =>
      typeof text === 'string' ? this.#text(text) : text,
    )
  }
}
