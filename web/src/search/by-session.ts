import type { EventType, SearchHit } from 'mainstem/client'

/** The hits of one session. */
export interface SessionHits {
  session: string
  hits: readonly SearchHit[]
}

/** Hits by session, in the order of the newest hit of each. */
export function bySession(hits: readonly SearchHit[]): SessionHits[] {
  return [...Map.groupBy(hits, ({ session }) => session)].map(([session, own]) => ({ session, hits: own }))
}

const KINDS: readonly (readonly [start: string, kind: string])[] = [
  ['turn.started', 'Prompt'],
  ['turn.queued', 'Queued prompt'],
  ['turn.steered', 'Prompt'],
  ['turn.completed', 'Result'],
  ['text.', 'Answer'],
  ['thinking.', 'Thinking'],
  ['tool.', 'Tool call'],
  ['file.', 'Change'],
  ['request.', 'Request'],
  ['plan.', 'Plan'],
  ['subagent.', 'Sub-agent'],
  ['session.', 'Session'],
  ['notice.', 'Notice'],
]

/** What kind of text a hit is, for people. */
export const kindOf = (type: EventType): string =>
  KINDS.find(([start]) => type.startsWith(start))?.[1] ?? type

/** A piece of a snippet. */
export interface SnippetPiece {
  text: string
  isMatch: boolean
}

/** The pieces of a snippet, without the signs of Markdown. */
export function piecesOf({ snippet, marks }: Pick<SearchHit, 'snippet' | 'marks'>): SnippetPiece[] {
  const pieces: SnippetPiece[] = []
  let from = 0
  for (const { start, end } of marks) {
    pieces.push({ text: plain(snippet.slice(from, start)), isMatch: false })
    pieces.push({ text: snippet.slice(start, end), isMatch: true })
    from = end
  }
  pieces.push({ text: plain(snippet.slice(from)), isMatch: false })
  const [first] = pieces
  // The text of a call begins with the name of its tool, and then with its title.
  if (first) first.text = first.text.replace(/^(\S+) (?=\1 )/, '')
  return pieces.filter(({ text }) => text !== '')
}

// The language of a code block goes with its fence. Two asterisks after a slash are of a comment or a path.
function plain(text: string): string {
  return text
    .replaceAll(/`{3,}[\w+#-]*|(?<!\/)\*\*|__|`+|^#{1,6}\s+/gm, '')
    .replaceAll(/(?<![\w/*])\*([^\s*][^*]*)\*(?![\w*])/g, '$1')
    .replaceAll(/\s+/g, ' ')
}
