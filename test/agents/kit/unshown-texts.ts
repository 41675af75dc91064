import { isFields } from '../../../src/agents/kit/fields.ts'
import { frameNames } from '../../../src/agents/kit/silent-fields.ts'
import type { Entry } from '../../../src/model/index.ts'
import type { Fixture } from '../fixtures.ts'
import { type Leaf, leavesOf } from './leaves.ts'
import { messagesOf, ownOf } from './lost-strings.ts'

/** A text may be reported this many frames later: a call waits for its input, a message for its end. */
const LATER = 20
const TEXT_CHARS = 3

/** Fields in which a single word is a text too. Elsewhere it is an id or a word of the protocol. */
const CONTENT: ReadonlySet<string> = new Set([
  'aggregatedOutput',
  'aggregated_output',
  'arguments',
  'command',
  'content',
  'delta',
  'description',
  'diff',
  'error',
  'message',
  'newText',
  'oldText',
  'output',
  'patch',
  'path',
  'prompt',
  'reason',
  'reasoning',
  'result',
  'stderr',
  'stdout',
  'summary',
  'text',
  'thinking',
  'title',
])

/**
 * The texts of a recording that are in no event up to `LATER` frames after their own, by the name of their frame and
 * the path to them. Uses neither the verdict of a codec nor its list of silent fields.
 */
export function unshownTexts(fixture: Fixture, entries: readonly Entry[]): Map<string, string> {
  const places = new Map<string, string>()
  const texts = textsByFrame(entries)
  let shown = texts.get(0) ?? ''
  let last = 0
  let frames = 0
  const messages = messagesOf(fixture)
  const own = new Set(ownOf(messages))
  for (const { dir, msg } of messages) {
    if (dir !== 'out' || msg === '') continue
    frames++
    while (last < frames + LATER) shown += texts.get(++last) ?? ''
    if (!isFields(msg) || !own.has(msg)) continue
    for (const leaf of leavesOf(msg)) {
      if (!isText(leaf) || shown.includes(leaf.value)) continue
      const place = `${frameNames(msg).at(-1) ?? 'response'} ${leaf.path.join('.')}`
      places.set(place, `${fixture.name}: ${leaf.value.slice(0, 80)}`)
    }
  }
  return places
}

/** What the events of each frame say. Events that no frame caused, such as our own prompts, are under 0. */
function textsByFrame(entries: readonly Entry[]): Map<number, string> {
  const texts = new Map<number, string>()
  for (const { event, native = 0 } of entries) {
    const said = Array.from(leavesOf(event), ({ value }) => `${value}\n`).join('')
    texts.set(native, (texts.get(native) ?? '') + said)
  }
  return texts
}

function isText({ path, value }: Leaf): boolean {
  if (value.trim().length < TEXT_CHARS) return false
  return /\S\s+\S/.test(value) || CONTENT.has(path.at(-1) ?? '')
}
