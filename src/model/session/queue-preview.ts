import type { Author } from '../request/request.ts'
import type { Continuation } from './continuation.ts'
import type { Image } from './options.ts'
import type { SessionRecord } from './record.ts'

/** A prompt that was accepted and waits for its turn. A record has only the preview of it. */
export interface AcceptedPrompt {
  turn: number
  prompt: string
  images?: readonly Image[]
  continuation?: Continuation | undefined
  principal?: Author['principal'] | undefined
  client?: Author['client'] | undefined
}

/** Characters of a prompt that its record has. */
const PREVIEW_CHARS = 2_000

/** Half of a character that has two code units. */
const CUT_CHARACTER = /[\ud800-\udbff]$/

/** What the record of a session has of a prompt that waits: a queue of long prompts and images must not make it large. */
export function queuePreview({
  turn,
  prompt,
  images = [],
  continuation,
  principal,
  client,
}: AcceptedPrompt): SessionRecord['queue'][number] {
  const isLong = prompt.length > PREVIEW_CHARS
  return {
    turn,
    prompt: isLong ? prompt.slice(0, PREVIEW_CHARS).replace(CUT_CHARACTER, '') : prompt,
    ...(isLong && { truncated: true }),
    ...(images.length > 0 && { images: images.length }),
    ...(continuation && { continuation }),
    ...(principal !== undefined && { principal }),
    ...(client && { client }),
  }
}

/** Whether the record has all of a prompt. */
export function isWhole({ truncated, images }: SessionRecord['queue'][number]): boolean {
  return truncated === undefined && images === undefined
}
