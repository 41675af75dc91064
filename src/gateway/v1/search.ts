import { z } from 'zod'
import { Entry, type EventType, MainstemError, SessionRecord } from '../../model/index.ts'
import { searchText, searchWords } from '../../model/search-text.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { integer } from '../http/query.ts'

/** Characters of a match that are shown before and after its first word. */
const BEFORE = 60
const AFTER = 140

const SearchHit = named(
  'SearchHit',
  SessionRecord.pick({ agent: true, cwd: true, title: true }).extend({
    session: SessionRecord.shape.id,
    ...Entry.pick({ seq: true, at: true }).shape,
    type: z.string().describe('the type of the event'),
    snippet: z.string().describe('the text around the first word that was found'),
  }),
)
type SearchHit = z.infer<typeof SearchHit> & { type: EventType }

const SearchResult = named(
  'SearchResult',
  z.strictObject({ hits: z.array(SearchHit).describe('newest first') }),
)

const SearchQuery = z.strictObject({
  q: z.string().min(1).max(200).describe('words; an entry matches that contains each of them'),
  limit: integer(1, 200).default(50),
})

/** Finds prompts, messages, tool calls and their output in all sessions of a principal. */
export function searchEndpoint({ sessions }: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/search',
    summary: 'Entries of your sessions that contain every word of a text',
    query: SearchQuery,
    answer: SearchResult,
    async run({ query: { q, limit }, principal }) {
      const words = searchWords(q)
      if (words.length === 0) throw new MainstemError('invalid_request', 'q: give a word', { field: 'q' })
      const found = await sessions.search({ principal, words, limit })
      const records = new Map<string, SessionRecord | undefined>()
      for (const { session } of found)
        if (!records.has(session)) records.set(session, await sessions.record(session))
      return { hits: found.flatMap((entry) => hitOf(entry, records.get(entry.session), words)) }
    },
  })
}

/** Nothing for a session that was removed since. */
function hitOf(
  { session, seq, at, event }: Entry,
  record: SessionRecord | undefined,
  words: readonly string[],
): SearchHit[] {
  if (!record) return []
  const { agent, cwd, title } = record
  const snippet = snippetOf(searchText(event) ?? '', words)
  return [{ session, agent, cwd, ...(title !== undefined && { title }), seq, at, type: event.type, snippet }]
}

function snippetOf(text: string, words: readonly string[]): string {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0] ?? ''))
  const [start, end] = [Math.max(0, at - BEFORE), Math.min(text.length, at + AFTER)]
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}
