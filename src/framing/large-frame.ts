import { blobReference } from '../model/blob.ts'
import { FRAME_BYTES, type ValueSink, type ValueWriter } from '../model/text/large-value.ts'
import { type Frame, type FrameStream, jsonFrame } from './frame.ts'
import { FrameScanner, type Skeleton } from './frame-scanner.ts'

/**
 * Builds a frame that exceeds the size limit while its bytes arrive. Its large strings become blobs, and the frame
 * refers to them. A frame that cannot be read without them becomes a blob as a whole.
 */
export class LargeFrame {
  readonly #stream: FrameStream
  /** The bytes of the frame, for one that cannot be read. */
  readonly #whole: ValueWriter
  readonly #scanner: FrameScanner<ValueWriter> | undefined

  constructor(stream: FrameStream, values: ValueSink, limit = FRAME_BYTES) {
    this.#stream = stream
    this.#whole = values.open()
    // Standard error is plain text.
    this.#scanner = stream === 'stderr' ? undefined : new FrameScanner(() => values.open(), limit)
  }

  write(bytes: Uint8Array): void {
    this.#whole.write(bytes)
    this.#scanner?.write(bytes)
  }

  async close(): Promise<Frame> {
    const skeleton = this.#scanner?.end()
    const frame = skeleton && (await this.#read(skeleton))
    if (frame) return frame
    const { blob } = await this.#whole.close()
    return { stream: this.#stream, text: '', blob }
  }

  async #read(skeleton: Skeleton<ValueWriter>): Promise<Frame | undefined> {
    const { targets, lacksStructure } = skeleton
    // Nothing refers to the values of a frame that is kept whole, so this is known before they are stored.
    const none = targets.map(() => '')
    if (jsonFrame(this.#stream, skeleton.fill(none, '')).value === undefined) {
      for (const target of targets) target.discard()
      return undefined
    }
    const values = await Promise.all(targets.map((target) => target.close()))
    const texts = values.map(({ text }) => text)
    if (!lacksStructure) {
      this.#whole.discard()
      return { ...jsonFrame(this.#stream, skeleton.fill(texts, '')), large: values }
    }
    const whole = await this.#whole.close()
    const text = blobReference(whole.blob)
    const frame = jsonFrame(this.#stream, skeleton.fill(texts, text))
    return { ...frame, large: [...values, { ...whole, text }] }
  }
}

const encoder = new TextEncoder()

/** The most bytes that UTF-8 takes for a character of a string. */
const WIDEST = 3

/** Builds a frame from a text that is in memory already: at once, unless it exceeds the size limit. */
export function frameOf(
  stream: FrameStream,
  text: string,
  values: ValueSink,
  limit = FRAME_BYTES,
): Frame | Promise<Frame> {
  if (text.length * WIDEST <= limit) return jsonFrame(stream, text)
  const bytes = encoder.encode(text)
  if (bytes.length <= limit) return jsonFrame(stream, text)
  const frame = new LargeFrame(stream, values, limit)
  frame.write(bytes)
  return frame.close()
}
