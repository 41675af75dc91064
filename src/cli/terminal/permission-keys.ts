import type { RequestOpened } from '../../model/events/request.ts'
import type { AnswerCommand } from '../../model/index.ts'
import { allowingKeys, keyHint, pageLine, viewHint } from '../render/key-line.ts'
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
  /** How many other requests wait now. */
  waiting(): number
  /** Reads a line of text; undefined if the person cancelled. */
  reason(): Promise<string | undefined>
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
  let labelled: string | undefined
  for (;;) {
    const state = await quiet(keyboard, signal)
    // Only now: meanwhile, other requests may have been opened.
    const label = card.label(waiting())
    if (state === 'quiet' && label !== labelled) {
      await print(label)
      labelled = label
    }
    const pressed: Press = state === 'quiet' ? await hinted(request, hidden, place) : { type: state }
    if (pressed.type === 'over') return undefined
    if (pressed.type === 'redraw') {
      card = requestCard(view, request)
      hidden = card.hidden
      labelled = undefined
      await print(`\n${card.text}`)
    } else if (pressed.type === 'burst') {
      await print('\n  ignored: several keys at once\n')
    } else if (pressed.key === 'v' && hidden > 0) {
      await print('v\n')
      if (await viewed(request, card, place)) hidden = 0
      labelled = undefined
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
  if (card.hidden > 0 || waiting() > 0 || request.parent !== undefined) await print(card.label(waiting()))
  while (card.hidden > 0) {
    const state = await quiet(keyboard, signal)
    if (state === 'quiet') await print(viewHint(card.hidden))
    const pressed: Press = state === 'quiet' ? await press(keyboard, signal) : { type: state }
    if (pressed.type === 'over') return false
    await print('\n')
    if (pressed.type === 'redraw') {
      card = requestCard(view, request)
      await print(`${card.text}${card.label(waiting())}`)
    } else if (pressed.type === 'key') {
      if (pressed.key === ESCAPE) return false
      if (pressed.key === 'v' && (await viewed(request, card, place))) return true
    }
  }
  return true
}

async function hinted(request: RequestOpened, hidden: number, place: KeyPlace): Promise<Press> {
  await place.print(keyHint(request, place.view.screen.columns(), hidden))
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
async function viewed(
  request: RequestOpened,
  { body, page }: RequestCard,
  { keyboard, view, print, signal }: KeyPlace,
): Promise<boolean> {
  for (let from = 0; ; ) {
    const to = Math.min(from + page, body.length)
    await print(`${body.slice(from, to).join('\n')}\n`)
    if (to === body.length) return true
    await print(pageLine(view, request, { from: from + 1, to, of: body.length }))
    const pressed = await press(keyboard, signal)
    await print('\n')
    if (pressed.type !== 'key' || !NEXT_PAGE.has(pressed.key)) return false
    from = to
  }
}
