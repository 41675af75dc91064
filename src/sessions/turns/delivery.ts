import type { Entry, SessionRecord } from '../../model/index.ts'

type DeliveredEntries = Pick<SessionRecord, 'delivered' | 'deliveredTurns'>
type Span = NonNullable<SessionRecord['deliveredTurns']>[number]

/** How far a client has read a turn: up to an entry, or all of it if the turn has `ended`. */
export interface TurnRead {
  turn: number
  seq: number
  ended: boolean
}

/** Whether a client of the session already has this entry. */
export function isDelivered(
  { delivered = 0, deliveredTurns = [] }: DeliveredEntries,
  { turn, seq }: Pick<Entry, 'turn' | 'seq'>,
): boolean {
  if (seq <= delivered) return true
  if (turn === undefined) return false
  const span = deliveredTurns.find(({ first, last }) => first <= turn && turn <= last)
  return span !== undefined && seq <= (span.seq ?? Number.POSITIVE_INFINITY)
}

/** Adds what a client has read. `turns` is the number of turns of the session. */
export function withDelivered(
  before: DeliveredEntries,
  reads: readonly TurnRead[],
  turns: number,
): DeliveredEntries {
  const deliveredTurns = reads.reduce<readonly Span[]>(addRead, before.deliveredTurns ?? [])
  const [first, ...others] = deliveredTurns
  const isAll = first?.first === 1 && first.last === turns && first.seq === undefined && others.length === 0
  const seq = isAll ? Math.max(before.delivered ?? 0, ...reads.map((read) => read.seq)) : before.delivered
  return { deliveredTurns: [...deliveredTurns], ...(seq !== undefined && { delivered: seq }) }
}

function addRead(spans: readonly Span[], { turn, seq, ended }: TurnRead): readonly Span[] {
  const known = spans.find(({ first, last }) => first <= turn && turn <= last)
  if (known && known.seq === undefined) return spans
  const part = ended ? {} : { seq: Math.max(seq, known?.seq ?? 0) }
  const others = spans.filter((span) => span !== known)
  const sorted = [...others, { first: turn, last: turn, ...part }].sort(
    (one, other) => one.first - other.first,
  )
  return sorted.reduce<Span[]>(join, [])
}

/** Joins adjacent spans that are fully delivered, so that the list grows with its gaps only. */
function join(joined: Span[], span: Span): Span[] {
  const previous = joined.at(-1)
  const isNext = previous?.seq === undefined && span.seq === undefined && previous?.last === span.first - 1
  if (!previous || !isNext) return [...joined, span]
  return [...joined.slice(0, -1), { first: previous.first, last: span.last }]
}
