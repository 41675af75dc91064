import type { RequestOpened } from '../../model/events/request.ts'
import { offeredScopes } from '../../model/request/offered-scopes.ts'
import { subjectOf } from './request-card.ts'
import type { TerminalView } from './view.ts'
import { cut, widthOf } from './wrap.ts'

/** The keys that allow, and how long. */
const ALLOWING = [
  { key: 'y', scope: 'once' },
  { key: 's', scope: 'session' },
] as const

type AllowingKey = (typeof ALLOWING)[number]

interface KeyWords {
  y: string
  s: string
  deny: string
  view(hidden: number): string
}

const WORDS: readonly KeyWords[] = [
  {
    y: 'y allow once',
    s: 's allow for this session',
    deny: 'n deny · d deny with a reason',
    view: (hidden) => `v view all, then allow (${hidden} lines not shown)`,
  },
  {
    y: 'y allow once',
    s: 's allow session',
    deny: 'n deny · d with reason',
    view: (hidden) => `v view ${hidden} more to allow`,
  },
]

const PLAN_WORDS: readonly KeyWords[] = [
  {
    y: 'y approve',
    s: 's approve for this session',
    deny: 'n keep planning · d keep planning, and say why',
    view: (hidden) => `v view all, then approve (${hidden} lines not shown)`,
  },
  {
    y: 'y approve',
    s: 's for session',
    deny: 'n keep planning · d why',
    view: (hidden) => `v view ${hidden} more to approve`,
  },
]

/** The narrowest subject that says what is viewed. */
const SHORTEST_SUBJECT = 16

export function allowingKeys(request: RequestOpened): AllowingKey[] {
  const offered = offeredScopes(request)
  return ALLOWING.filter(({ scope }) => offered.includes(scope))
}

/**
 * The keys for a request, on one line where the terminal has room for them. No key allows more than this session: that
 * belongs in the configuration of the agent.
 */
export function keyHint(request: RequestOpened, columns: number, hidden = 0): string {
  const keys = allowingKeys(request)
  const words = request.kind === 'plan' ? PLAN_WORDS : WORDS
  return fitting(
    words.map(({ deny, view, ...allow }) => {
      const allowed = hidden > 0 ? [view(hidden)] : keys.map(({ key }) => allow[key])
      return `  ${[...allowed, deny].join(' · ')} `
    }),
    columns,
  )
}

/** The key that shows a question, of which `hidden` lines are not on the screen. */
export function viewHint(hidden: number): string {
  return `  v view all, then answer (${hidden} lines not shown) `
}

/** The last line of a page of an input: what the request is about, which lines are shown, and the keys. */
export function pageLine(
  view: TerminalView,
  request: RequestOpened,
  { from, to, of }: { from: number; to: number; of: number },
): string {
  const columns = view.screen.columns()
  const rest = fitting(
    [
      ` · lines ${from} to ${to} of ${of} · space next page · any other key back `,
      ` · ${from}–${to} of ${of} · space more · else back `,
    ],
    columns - SHORTEST_SUBJECT - 2,
  )
  return `  ${cut(subjectOf(view, request), Math.max(1, columns - 3 - widthOf(rest)))}${rest}`
}

/** The first text that leaves room for the cursor behind it; the last one if none does. */
function fitting(texts: readonly string[], columns: number): string {
  return texts.find((text) => widthOf(text) < columns) ?? texts.at(-1) ?? ''
}
