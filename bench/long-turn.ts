import type { LaunchKind } from '../src/model/index.ts'
import type { Scene } from './corpus.ts'

const PIECES = 100
const TIMES = 20
const WORDS =
  'The stream is read line by line, and whatever an agent says becomes one event of the log.'.split(' ')

/** A piece of a text that is streamed. */
const PIECE =
  /"(?:\w+_delta|agent_(?:message|thought)_chunk|message\.part\.delta)"|"delta":true|\/\w*[dD]elta"/
/** What begins or ends a process or its turn, and what counts for all of it. */
const EDGE = /"type":"(?:system|init|result|thread\.started|turn\.\w+)"/
const ID = /"(?:id|uuid|callID|messageID|tool_use_id|tool_id)":"([^"]+)"/g

/**
 * The same scene with a turn as long as real ones: a piece of a text is followed by more of them, and what a one-shot
 * process does in its turn it does over again, each time under ids of its own. Live ones are asked and told things
 * meanwhile, which must stay as they were, so there only the texts grow.
 */
export function longTurn(scene: Scene, launch: LaunchKind): Scene {
  return launch === 'live' ? longTexts(scene) : { ...scene, lines: overAgain(longTexts(scene).lines) }
}

function longTexts({ lines, told }: Scene): Scene {
  const long: string[] = []
  const placeOf = lines.map((line) => {
    const place = long.length
    if (PIECE.test(line)) for (let time = 0; time < PIECES; time++) long.push(pieceOf(line, time))
    else long.push(line)
    return place
  })
  return { lines: long, told: told.map(([at, line]) => [placeOf[at] ?? long.length, line]) }
}

/** Another word of the same text, in a line that has an id and a time of its own where such lines have them. */
function pieceOf(line: string, time: number): string {
  const word = WORDS[time % WORDS.length] ?? ''
  const id = String(time).padStart(2, '0')
  return line
    .replace(/("(?:text|thinking|delta|partial_json|content)":")[^"\\]+"/, `$1${word} "`)
    .replace(/("(?:uuid|id)":"[^"]+)[^"]{2}"/, `$1${id}"`)
    .replace(/("timestamp":"[^"]+)\d{2}Z"/, `$1${id}Z"`)
    .replace(/("emittedAtMs":\d+)\d{2}/, `$1${id}`)
}

function overAgain(lines: readonly string[]): string[] {
  const begin = lines.findIndex((line) => !EDGE.test(line))
  const end = lines.findLastIndex((line) => !EDGE.test(line)) + 1
  const body = lines.slice(begin, end).join('\n')
  if (body === '') return [...lines]
  const ids = new Set(Array.from(body.matchAll(ID), ([, id = '']) => id))
  const bodies = Array.from({ length: TIMES }, (_, time) => {
    let again = body
    for (const id of ids) again = again.replaceAll(`"${id}"`, `"${id}.${time}"`)
    return again
  })
  return [...lines.slice(0, begin), ...bodies.join('\n').split('\n'), ...lines.slice(end)]
}
