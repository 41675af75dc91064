import type { LaunchKind } from '../src/model/index.ts'
import type { Scene } from './corpus.ts'

/** A turn that has as many lines is long enough. */
const LINES = 2000
/** No message of a turn that is repeated is longer than this. */
const PIECES = 100
const TIMES = 100
const SENTENCE = 'The stream is read line by line, and whatever an agent says becomes one event of the log.'
const WORDS = SENTENCE.split(' ')
const PARAGRAPH = 3
const PAGE = 25

/** A line about a text that is streamed, and the piece of it; a board streams lines. */
const STREAMED =
  /"(?:\w+_delta|agent_(?:message|thought)_chunk|message\.part\.delta)"|"delta":true|\/\w*[dD]elta"|"type":"log"/
const PIECE = /("(?:text|thinking|delta|partial_json|content|line)":")[^"\\]+"/
/** Lines that begin or end a process or its turn, totals, and failures. They occur once. */
const EDGE = /"type":"(?:system|init|result|error|thread\.started|turn\.\w+)"/
const COUNTED = /^([a-z]+_)(\d{1,4})$/
const ID = /"(?:id|uuid|callID|messageID|tool_use_id|tool_id)":"([^"]+)"/g

/**
 * Extends the turn of a scene to a realistic length: adds pieces of text, and repeats the calls of a one-shot process
 * with new ids and with texts and outputs of realistic length. A live process receives commands meanwhile, which must
 * stay as recorded, so there only the texts grow.
 */
export function longTurn(scene: Scene, launch: LaunchKind): Scene {
  if (launch === 'oneshot') return { ...scene, lines: overAgain(longTexts(scene, PIECES).lines) }
  return longTexts(scene, Math.ceil(LINES / Math.max(1, scene.lines.filter(isPiece).length)))
}

function longTexts({ lines, told }: Scene, pieces: number): Scene {
  const long: string[] = []
  const placeOf = lines.map((line) => {
    const place = long.length
    if (isPiece(line)) for (let time = 0; time < pieces; time++) long.push(pieceOf(line, time))
    else long.push(line)
    return place
  })
  return { lines: long, told: told.map(([at, line]) => [placeOf[at] ?? long.length, line]) }
}

/** Some lines of a stream have no text, such as the usage of a message. They occur once. */
function isPiece(line: string): boolean {
  return STREAMED.test(line) && PIECE.test(line)
}

/** Another word of the same text, with a new id and time if the line has them. */
function pieceOf(line: string, time: number): string {
  const word = WORDS[time % WORDS.length] ?? ''
  const id = String(time).padStart(4, '0')
  return line
    .replace(PIECE, (_, key) => `${key}${word} ${key === '"line":"' ? SENTENCE : ''}"`)
    .replace(/("(?:uuid|id)":"[^"]+)[^"]{4}([^"]{2}")/, `$1${id}$2`)
    .replace(/("timestamp":"[^"]+)\d{3}Z"/, `$1${id.slice(-3)}Z"`)
    .replace(/("emittedAtMs":\d+)\d{4}/, `$1${id}`)
}

function overAgain(lines: readonly string[]): string[] {
  const begin = lines.findIndex((line) => !EDGE.test(line))
  const end = lines.findLastIndex((line) => !EDGE.test(line)) + 1
  const body = lines.slice(begin, end)
  if (body.length === 0) return [...lines]
  const ids = [...new Set(Array.from(body.join('\n').matchAll(ID), ([, id = '']) => id))]
  const step = 1 + Math.max(...ids.map((id) => Number(COUNTED.exec(id)?.[2] ?? 0)))
  const times = Math.min(TIMES, Math.ceil(LINES / body.length))
  const bodies = Array.from({ length: times }, (_, time) => {
    let again = body.map((line) => (isPiece(line) ? line : wholeOf(line, time))).join('\n')
    for (const id of ids) again = again.replaceAll(`"${id}"`, `"${idOf(id, time, step)}"`)
    return again
  })
  return [...lines.slice(0, begin), ...bodies.join('\n').split('\n'), ...lines.slice(end)]
}

/** Continues the count of an agent that numbers its ids. */
function idOf(id: string, time: number, step: number): string {
  const [, stem, number] = COUNTED.exec(id) ?? []
  return stem === undefined ? `${id}.${time}` : `${stem}${Number(number) + time * step}`
}

/**
 * Replaces complete texts and outputs with longer ones, because the scripted model only writes "Done." and runs
 * `echo ok`. All are different. Empty and longer ones stay as they are.
 */
function wholeOf(line: string, time: number): string {
  const sentence = [...WORDS.slice(time % WORDS.length), ...WORDS.slice(0, time % WORDS.length)].join(' ')
  const paragraph = Array<string>(PARAGRAPH).fill(sentence).join(' ')
  const page = `${sentence}\\n`.repeat(PAGE)
  return line
    .replace(/("text":")((?:[^"\\]|\\.)+)"/g, (_, key, text) => `${key}${longer(text, paragraph)}"`)
    .replace(
      /("(?:aggregated_)?output":")((?:[^"\\]|\\.)+)"/g,
      (_, key, text) => `${key}${longer(text, page)}"`,
    )
}

function longer(one: string, other: string): string {
  return one.length < other.length ? other : one
}
