import type { RequestOpened } from '../../model/events/request.ts'
import type { AnswerCommand } from '../../model/index.ts'
import { offeredScopes } from '../../model/request/offered-scopes.ts'
import { type RequestCard, requestCard } from '../render/request-card.ts'
import type { TerminalView } from '../render/view.ts'
import { type Press, press, quiet } from './key-guard.ts'
import { ENTER, ESCAPE } from './key-reader.ts'
import type { Keyboard } from './keyboard.ts'

/** The terminal at which a person decides. */
export interface KeyPlace {
  keyboard: Keyboard
  view: TerminalView
  print(text: string): Promise<void>
  signal: AbortSignal
  /** How many other requests wait. */
  waiting: number
  /** Reads a line of text; undefined if the person cancelled. */
  reason(): Promise<string | undefined>
}

/** The keys that allow, and how long. */
const ALLOWING = [
  { key: 'y', scope: 'once', hint: 'y allow once', planHint: 'y approve' },
  { key: 's', scope: 'session', hint: 's allow for this session', planHint: 's approve for this session' },
] as const

const DENYING = ['n deny', 'd deny with a reason']
const KEEP_PLANNING = ['n keep planning', 'd keep planning, and say why']

function allowingKeys(request: RequestOpened): (typeof ALLOWING)[number][] {
  const offered = offeredScopes(request)
  return ALLOWING.filter(({ scope }) => offered.includes(scope))
}

/** The keys for a request. No key allows more than this session: that belongs in the configuration of the agent. */
export function keyHint(request: RequestOpened, hidden = 0): string {
  const isPlan = request.kind === 'plan'
  const view = `v view all, then ${isPlan ? 'approve' : 'allow'} (${hidden} lines not shown)`
  const allow =
    hidden > 0 ? [view] : allowingKeys(request).map(({ hint, planHint }) => (isPlan ? planHint : hint))
  return `  ${[...allow, ...(isPlan ? KEEP_PLANNING : DENYING)].join(' · ')} `
}

/**
 * Returns the decision of a person; undefined if the person cancelled or the request was closed. The request is on the
 * screen already. The keys are printed when they count. Allowing needs the whole input to have been on the screen.
 */
export async function decideByKey(
  request: RequestOpened,
  place: KeyPlace,
): Promise<AnswerCommand | undefined> {
  const { keyboard, view, print, signal, waiting } = place
  let card = requestCard(view, request)
  let { hidden } = card
  await print(card.label(waiting))
  for (;;) {
    const state = await quiet(keyboard, signal)
    const pressed: Press = state === 'quiet' ? await hinted(request, hidden, place) : { type: state }
    if (pressed.type === 'over') return undefined
    if (pressed.type === 'redraw') {
      card = requestCard(view, request)
      hidden = card.hidden
      await print(`\n${card.text}${card.label(waiting)}`)
    } else if (pressed.type === 'burst') {
      await print('\n  ignored: several keys at once\n')
    } else if (pressed.key === 'v' && hidden > 0) {
      await print('v\n')
      if (await viewed(card, place)) hidden = 0
      await print(card.label(waiting))
    } else if (pressed.key === ESCAPE) {
      await print('\n')
      return undefined
    } else {
      const answer = await decision(request, pressed.key, hidden, place)
      if (answer !== 'none') return answer
      await print('\n')
    }
  }
}

/**
 * Whether a question may be answered: all of it has been on the screen. False if the person cancelled or the request was
 * closed.
 */
export async function viewWhole(request: RequestOpened, place: KeyPlace): Promise<boolean> {
  const { keyboard, view, print, signal, waiting } = place
  let card = requestCard(view, request)
  // The prompt repeats the heading of a question, but not who asks and how many others do.
  if (card.hidden > 0 || waiting > 0 || request.parent !== undefined) await print(card.label(waiting))
  while (card.hidden > 0) {
    const state = await quiet(keyboard, signal)
    if (state === 'quiet') await print(`  v view all, then answer (${card.hidden} lines not shown) `)
    const pressed: Press = state === 'quiet' ? await press(keyboard, signal) : { type: state }
    if (pressed.type === 'over') return false
    await print('\n')
    if (pressed.type === 'redraw') {
      card = requestCard(view, request)
      await print(`${card.text}${card.label(waiting)}`)
    } else if (pressed.type === 'key') {
      if (pressed.key === ESCAPE) return false
      if (pressed.key === 'v' && (await viewed(card, place))) return true
    }
  }
  return true
}

async function hinted(request: RequestOpened, hidden: number, place: KeyPlace): Promise<Press> {
  await place.print(keyHint(request, hidden))
  return press(place.keyboard, place.signal)
}

/** The answer that a key stands for; undefined if the person cancelled. */
async function decision(
  request: RequestOpened,
  key: string,
  hidden: number,
  { print, reason }: KeyPlace,
): Promise<AnswerCommand | undefined | 'none'> {
  const answer = { type: 'answer', requestId: request.requestId } as const
  const allowing = hidden === 0 ? allowingKeys(request).find((one) => one.key === key) : undefined
  if (allowing) {
    await print(`${key}\n`)
    return { ...answer, decision: 'allow', scope: allowing.scope }
  }
  if (key === 'n') {
    await print('n\n')
    return { ...answer, decision: 'deny' }
  }
  if (key !== 'd') return 'none'
  await print('d\n')
  const message = await reason()
  return message === undefined
    ? undefined
    : { ...answer, decision: 'deny', ...(message !== '' && { message }) }
}

const NEXT_PAGE: ReadonlySet<string> = new Set([' ', 'v', ENTER])

/** Shows the whole input page by page. Returns whether its end was reached. */
async function viewed({ body, page }: RequestCard, { keyboard, print, signal }: KeyPlace): Promise<boolean> {
  for (let from = 0; ; ) {
    const to = Math.min(from + page, body.length)
    await print(`${body.slice(from, to).join('\n')}\n`)
    if (to === body.length) return true
    await print(`  lines ${from + 1} to ${to} of ${body.length} · space next page · any other key back `)
    const pressed = await press(keyboard, signal)
    await print('\n')
    if (pressed.type !== 'key' || !NEXT_PAGE.has(pressed.key)) return false
    from = to
  }
}
