import type { LargeValue } from '../../model/text/large-value.ts'
import type { Codec, Decoded, Emitted } from '../agent.ts'
import { unmapped } from './decoded.ts'
import { isFields } from './fields.ts'
import { frameNames, type Leaf, type SilentFields, SilentList } from './silent-fields.ts'

/** The state of a codec, and what its events said. */
export interface Accounted<State> {
  readonly inner: State
  readonly said: SaidTexts
}

/**
 * Counts a frame as mapped only if nothing of its content is missing. Every text must be in an event of the frame or in
 * an earlier one, or its field must be on the list of silent fields. Otherwise the frame is unmapped, and kept whole
 * after its events.
 */
export function accounted<State>(codec: Codec<State>, fields: SilentFields): Codec<Accounted<State>> {
  const silent = new SilentList(fields)
  const { ready, finished, unconfirmed, doubtful, sent } = codec
  return {
    initial: (start) => ({ inner: codec.initial(start), said: new SaidTexts() }),
    decode({ inner, said }, frame) {
      const step = codec.decode(inner, frame)
      const native = frame.value
      if (step.verdict !== 'mapped' || !isFields(native)) return step
      const { emitted } = step
      const missing = step.skipped
        ? NONE
        : silent.unlisted(native, (value, key) => isText(value, key) && !isIn(emitted, value))
      const large = frame.large ?? NO_VALUES
      const again = large.filter(({ digest }) => said.hasLarge(digest)).map(({ text }) => text)
      const known = [...(step.continues ?? []), ...again]
      const leaf = missing.find(({ value }) => !known.includes(value) && (!isLong(value) || !said.has(value)))
      const isNew = step.repeats?.some((value) => !said.has(value))
      said.add(emitted, frame.text.length)
      for (const { text, digest } of large) if (isIn(emitted, text)) said.addLarge(digest)
      if (!leaf && !isNew) return step
      const name = frameNames(native).at(-1) ?? '?'
      const what = leaf === undefined ? name : `${name} ${leaf.path.join('.')}`
      return withWrites(unmapped(what, frame.text, emitted), step)
    },
    encode: ({ inner }, command) => codec.encode(inner, command),
    end: ({ inner }, exit) => codec.end(inner, exit),
    ...(ready && { ready: ({ inner }) => ready(inner) }),
    ...(finished && { finished: ({ inner }) => finished(inner) }),
    ...(unconfirmed && { unconfirmed: ({ inner }) => unconfirmed(inner) }),
    ...(doubtful && { doubtful: ({ inner }, write) => doubtful(inner, write) }),
    ...(sent && { sent: ({ inner }, frame) => sent(inner, frame) }),
  }
}

const NONE: readonly Leaf[] = []
const NO_VALUES: readonly LargeValue[] = []

function withWrites(step: Decoded, { writes }: Decoded): Decoded {
  return writes.length === 0 ? step : { ...step, writes }
}

const WORD_CHARS = 128

/** Fields that have what was said or done, in any of the protocols. */
const CONTENT: ReadonlySet<string> = new Set([
  'content',
  'delta',
  'message',
  'output',
  'result',
  'summary',
  'text',
  'thinking',
])

/**
 * A new version may add fields with ids or words of its protocol, which have no space and are short: only in a field
 * for content does a single word count.
 */
function isText(value: string, key: string): boolean {
  return isLong(value) || (CONTENT.has(key) && value.trim() !== '')
}

/** More than a word. A single word that was said before may be another one now. */
function isLong(value: string): boolean {
  if (value.length > WORD_CHARS) return true
  // Looking for the two usual spaces is much faster than a pattern.
  return (value.includes(' ') || value.includes('\n')) && /\S\s+\S/.test(value)
}

/** Whether an event has this text, alone or within a longer one. */
function isIn(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.length === text.length ? value === text : value.includes(text)
  // A loop over the keys of a list would take longer than all else that a frame passes.
  if (Array.isArray(value)) return value.some((item) => isIn(item, text))
  if (typeof value !== 'object' || value === null) return false
  const fields = value as Readonly<Record<string, unknown>>
  for (const key in fields) if (isIn(fields[key], text)) return true
  return false
}

const SAID_FRAMES = 512
const SAID_CHARS = 1024 * 1024

/** The events of the last frames, bounded in number and size. Agents repeat what they reported before. */
class SaidTexts {
  readonly #frames: ({ emitted: readonly Emitted[]; chars: number } | undefined)[] = []
  /** The oldest frame that is kept; those before it are removed from time to time. */
  #first = 0
  #chars = 0

  /** Digests of large values: each frame that repeats one refers to another blob. */
  readonly #large = new Set<string>()

  hasLarge(digest: string): boolean {
    return this.#large.has(digest)
  }

  addLarge(digest: string): void {
    this.#large.add(digest)
    const [oldest] = this.#large
    if (this.#large.size > SAID_FRAMES && oldest !== undefined) this.#large.delete(oldest)
  }

  has(text: string): boolean {
    for (let at = this.#frames.length - 1; at >= this.#first; at--) {
      if (isSame(this.#frames[at]?.emitted, text)) return true
    }
    return false
  }

  /** Only keeps the events, because most of them are never looked at. `chars` is the size of their frame. */
  add(emitted: readonly Emitted[], chars: number): void {
    // The complete text follows its pieces.
    if (emitted.length === 0 || emitted[0]?.type.endsWith('.delta')) return
    this.#frames.push({ emitted, chars })
    this.#chars += chars
    while (this.#frames.length - this.#first > SAID_FRAMES || this.#chars > SAID_CHARS) {
      this.#chars -= this.#frames[this.#first]?.chars ?? 0
      this.#frames[this.#first++] = undefined
    }
    if (this.#first < SAID_FRAMES) return
    this.#frames.splice(0, this.#first)
    this.#first = 0
  }
}

/** Whether an event has exactly this text. */
function isSame(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value === text
  // A loop over the keys of a list would take longer than all else that a frame passes.
  if (Array.isArray(value)) return value.some((item) => isIn(item, text))
  if (typeof value !== 'object' || value === null) return false
  const fields = value as Readonly<Record<string, unknown>>
  for (const key in fields) if (isSame(fields[key], text)) return true
  return false
}
