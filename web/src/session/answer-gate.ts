import { Store } from '../app/store.ts'
import { isFullyVisible, placeOf, visibleEnds } from './visible-area.ts'

/** A card, or the row of buttons of a batch, must stand still for this long before it can be answered. */
const SETTLE_MS = 400

/** How often cards are measured. Each answer measures again, so this only delays the moment in which buttons enable. */
const MEASURE_MS = 100

/** Marks a part of an input that is not rendered until someone opens it. */
const CLOSED = '[data-rest], details:not([open])'

/** `unread`: not shown whole yet. `settling`: it appeared, moved or changed a moment ago. */
export type Readiness = 'unread' | 'settling' | 'ready'

/** How a person answers: a pointer on a button, the keyboard on a focused button, or a key of the selected card. */
export type AnsweredBy = 'pointer' | 'button-key' | 'shortcut'

export interface GateView {
  /** The card that has the keys. */
  selected: string | undefined
  readiness: ReadonlyMap<string, Readiness>
}

export interface Watched {
  /** The element that must not move: a card, or the row of buttons of a batch. */
  element: HTMLElement
  /** The scroll box whose only child is everything that an answer allows. */
  box?: HTMLElement
  /** A batch: the cards that must have been shown whole. */
  members?: readonly string[]
}

interface Standing extends Watched {
  start: boolean
  end: boolean
  visible: boolean
  whole: boolean
  /** The last measurement, as text. */
  measured: string
  /** The time of the last change of place, visibility or content. */
  since: number
}

/**
 * Decides whether a request may be answered now. A request is shown when the start and the end of its input have been
 * on screen and no part of it is closed. Allowing needs that, and a card that has not moved for a while; keys also need
 * the card to be selected and completely visible.
 */
export class AnswerGate extends Store<GateView> {
  readonly #standings = new Map<string, Standing>()
  /** Times of the last press of each key, for keyboards that repeat without saying so. */
  readonly #pressed = new Map<string, number>()
  #selectedSince = 0
  /** How long the last pressed key had been quiet; 0 for a key that is held down. */
  #quietFor = Number.POSITIVE_INFINITY
  #timer: ReturnType<typeof setInterval> | undefined

  constructor() {
    super({ selected: undefined, readiness: new Map() })
  }

  /** Watches an element until the returned function is called. */
  watch(id: string, watched: Watched): () => void {
    const standing: Standing = {
      ...watched,
      start: false,
      end: false,
      visible: false,
      whole: false,
      measured: '',
      since: performance.now(),
    }
    this.#standings.set(id, standing)
    if (this.#timer === undefined) this.#begin()
    this.#measure()
    return () => {
      if (this.#standings.get(id) === standing) this.#standings.delete(id)
      this.#measure()
      if (this.#standings.size === 0) this.#finish()
    }
  }

  /** Gives the keys to a card, as long as all of it is visible. */
  select(id: string): void {
    if (this.get().selected === id) return
    this.#selectedSince = performance.now()
    this.update({ selected: id })
    this.#measure()
  }

  /** Moves the selection to the next card, after the last one to the first, and scrolls there. */
  selectNext(): void {
    const ids = this.#cardsInOrder()
    const { selected } = this.get()
    const next = ids[(selected === undefined ? 0 : ids.indexOf(selected) + 1) % ids.length]
    const standing = next === undefined ? undefined : this.#standings.get(next)
    if (next === undefined || !standing?.box) return
    standing.element.scrollIntoView({ block: 'nearest' })
    // The box takes the focus where it scrolls, so that the keyboard reads on.
    const target = standing.box.tabIndex >= 0 ? standing.box : standing.element
    target.focus({ preventScroll: true })
    this.select(next)
  }

  /** Whether this answer may be sent now: everything was shown, and nothing moved in the last moment. */
  mayAllow(id: string, by: AnsweredBy): boolean {
    this.#measure()
    if (this.get().readiness.get(id) !== 'ready') return false
    if (by === 'pointer') return true
    if (this.#quietFor === 0 || !this.#standings.get(id)?.visible) return false
    return by === 'button-key' || this.#hasKeys(id)
  }

  /** Whether a key that allows nothing, such as the one for denying, belongs to this card now. */
  mayUseKey(id: string): boolean {
    this.#measure()
    const standing = this.#standings.get(id)
    return standing?.visible === true && this.#isSettled(standing) && this.#hasKeys(id)
  }

  /**
   * Starts again: after an answer, because some agents ask the same again under the same id, and when the card shows
   * its input in another way.
   */
  startAgain(id: string): void {
    const standing = this.#standings.get(id)
    if (standing) Object.assign(standing, { start: false, end: false, since: performance.now() })
    this.#measure()
  }

  #hasKeys(id: string): boolean {
    const now = performance.now()
    return this.get().selected === id && now - this.#selectedSince >= SETTLE_MS && this.#quietFor >= SETTLE_MS
  }

  #isSettled({ since }: Standing): boolean {
    return performance.now() - since >= SETTLE_MS
  }

  #begin(): void {
    this.#timer = setInterval(this.#measure, MEASURE_MS)
    addEventListener('scroll', this.#measure, { capture: true, passive: true })
    addEventListener('resize', this.#measure)
    addEventListener('keydown', this.#onKeyDown, { capture: true })
    addEventListener('keyup', this.#onKeyUp, { capture: true })
  }

  #finish(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    removeEventListener('scroll', this.#measure, { capture: true })
    removeEventListener('resize', this.#measure)
    removeEventListener('keydown', this.#onKeyDown, { capture: true })
    removeEventListener('keyup', this.#onKeyUp, { capture: true })
  }

  readonly #onKeyDown = ({ key, repeat }: KeyboardEvent): void => {
    const now = performance.now()
    this.#quietFor = repeat ? 0 : now - (this.#pressed.get(key) ?? Number.NEGATIVE_INFINITY)
    this.#pressed.set(key, now)
  }

  readonly #onKeyUp = (): void => {
    this.#quietFor = Number.POSITIVE_INFINITY
  }

  readonly #measure = (): void => {
    const now = performance.now()
    for (const standing of this.#standings.values()) look(standing)
    for (const standing of this.#standings.values()) {
      const { element, members, visible, start, end } = standing
      standing.whole = members ? members.every((id) => this.#standings.get(id)?.whole) : start && end
      const measured = `${placeOf(element)} ${visible} ${standing.whole} ${members?.join()}`
      if (measured === standing.measured) continue
      standing.measured = measured
      standing.since = now
    }
    this.#select(now)
    this.#publish()
  }

  /** Keeps the selection while its card is visible; otherwise the first visible card has the keys. */
  #select(now: number): void {
    const { selected } = this.get()
    if (selected !== undefined && this.#standings.get(selected)?.visible) return
    const next = this.#cardsInOrder().find((id) => this.#standings.get(id)?.visible)
    if (next === selected) return
    this.#selectedSince = now
    this.update({ selected: next })
  }

  #publish(): void {
    const readiness = new Map<string, Readiness>()
    for (const [id, standing] of this.#standings)
      readiness.set(id, !standing.whole ? 'unread' : this.#isSettled(standing) ? 'ready' : 'settling')
    const known = this.get().readiness
    const same = known.size === readiness.size && [...readiness].every(([id, one]) => known.get(id) === one)
    if (!same) this.update({ readiness })
  }

  /** The cards in the order in which they are on the page. */
  #cardsInOrder(): string[] {
    return [...this.#standings]
      .filter(([, { box }]) => box)
      .sort(([, a], [, b]) =>
        a.element.compareDocumentPosition(b.element) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
      )
      .map(([id]) => id)
  }
}

/** Notes what of an element is on screen now. */
function look(standing: Standing): void {
  const { element, box } = standing
  standing.visible = isFullyVisible(element)
  const content = box?.firstElementChild
  if (!box || !content || (standing.start && standing.end)) return
  // Text wraps. If something does not, the part beyond the edge was never shown.
  if (box.scrollWidth > box.clientWidth + 1) return
  const { start, end } = visibleEnds(content)
  standing.start ||= start
  standing.end ||= end && !content.querySelector(CLOSED)
}

/** The one gate of the page, because one card at a time has the keys. */
export const answerGate = new AnswerGate()
