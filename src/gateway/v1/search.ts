import * as z from 'zod'
import { Entry, type EventType, MainstemError, SessionRecord } from '../../model/index.ts'
import { rangesIn, type SearchTerm, searchTerms } from '../../model/text/search-terms.ts'
import { searchText } from '../../model/text/search-text.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { OneAtATime } from '../http/one-at-a-time.ts'
import { named } from '../http/openapi/components.ts'
import { integer } from '../http/query.ts'

/** Characters of a text that are shown before and after its first match. */
const BEFORE = 60
const AFTER = 140

/** The cost of a search grows with its words. */
const MAX_WORDS = 16

/** Searches of one principal that may wait. */
const MAX_WAITING = 32

const TextRange = named(
  'TextRange',
  z.strictObject({ start: z.int().nonnegative(), end: z.int().nonnegative() }),
)

const SearchHitJson = named(
  'SearchHit',
  SessionRecord.pick({ agent: true, cwd: true, title: true }).extend({
    session: SessionRecord.shape.id,
    ...Entry.pick({ seq: true, at: true }).shape,
    type: z.string().describe('the type of the event'),
    snippet: z.string().describe('the text around the first match'),
    marks: z.array(TextRange).describe('the parts of the snippet that match'),
  }),
)
type SearchHitJson = z.infer<typeof SearchHitJson> & { type: EventType }

const SearchResult = named(
  'SearchResult',
  z.strictObject({
    hits: z.array(SearchHitJson).describe('newest first'),
    complete: z.boolean().describe('false while older entries are still being indexed and might match too'),
  }),
)

const SearchQuery = z.strictObject({
  q: z
    .string()
    .min(1)
    .max(200)
    .describe('at most 16 words; an entry matches that contains each of them, or a word that begins with it'),
  limit: integer(1, 200).default(50),
})

/** Finds prompts, messages, tool calls and their output in all sessions of a principal. */
export function searchEndpoint({ sessions, turns }: GatewayDeps): Endpoint {
  const searches = new OneAtATime(MAX_WAITING)
  return endpoint({
    method: 'GET',
    url: '/v1/search',
    summary: 'Entries of your sessions that contain every word of a text',
    query: SearchQuery,
    answer: SearchResult,
    errors: ['overloaded'],
    async run({ query: { q, limit }, principal }) {
      const terms = searchTerms(q)
      if (terms.length === 0) {
        throw new MainstemError('invalid_request', 'q: give a word with a letter or a digit', { field: 'q' })
      }
      if (terms.length > MAX_WORDS) {
        const message = `q: ${terms.length} words; search for at most ${MAX_WORDS}`
        throw new MainstemError('invalid_request', message, { field: 'q' })
      }
      const search = () => sessions.search({ principal, terms, limit })
      const { entries, isComplete } = await searches.run(principal, search)
      const records = new Map<string, SessionRecord | undefined>()
      const hits: SearchHitJson[] = []
      for (const entry of entries) {
        const { session } = entry
        await turns.take(principal)
        if (!records.has(session)) records.set(session, await sessions.record(session))
        hits.push(...hitOf(entry, records.get(session), terms))
      }
      return { hits, complete: isComplete }
    },
  })
}

/** Undefined for a session that was removed since. */
function hitOf(
  { session, seq, at, event }: Entry,
  record: SessionRecord | undefined,
  terms: readonly SearchTerm[],
): SearchHitJson[] {
  if (!record) return []
  const { agent, cwd, title } = record
  const place = { session, agent, cwd, ...(title !== undefined && { title }), seq, at, type: event.type }
  return [{ ...place, ...snippetOf(searchText(event) ?? '', terms) }]
}

function snippetOf(text: string, terms: readonly SearchTerm[]): Pick<SearchHitJson, 'snippet' | 'marks'> {
  const ranges: z.infer<typeof TextRange>[] = []
  let to = Math.min(text.length, AFTER)
  // The rest of a long text is not looked at.
  for (const range of rangesIn(text, terms)) {
    if (ranges.length === 0) to = Math.min(text.length, range.start + AFTER)
    if (range.start >= to) break
    ranges.push(range)
  }
  const from = Math.max(0, (ranges[0]?.start ?? 0) - BEFORE)
  const [before, after] = [from > 0 ? '…' : '', to < text.length ? '…' : '']
  const moved = before.length - from
  const marks = ranges
    .filter(({ end }) => end <= to)
    .map(({ start, end }) => ({ start: start + moved, end: end + moved }))
  return { snippet: before + text.slice(from, to) + after, marks }
}
