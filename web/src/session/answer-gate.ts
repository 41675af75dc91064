import { Store } from '../app/store.ts'
import { LastAct } from './last-act.ts'
import { note, type Painted, UNPAINTED } from './painted.ts'
import { type Ends, isFullyVisible, NO_ENDS, placeOf, visibleEnds } from './visible-area.ts'

/** A card, or the row of buttons of a batch, must stand still for this long before it can be answered. */
const SETTLE_MS = 400

/** Marks a part of an input that is not rendered until someone opens it. */
const CLOSED = '[data-rest], details:not([open])'

/** `unread`: painted, but not shown whole yet. `settling`: it appeared, moved or changed a moment ago. */
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

interface Standing extends Watched, Painted {
  /** Which ends of its input have been painted. */
  start: boolean
  end: boolean
  /** Which ends are in the layout of the last frame, which may not be painted yet. */
  ends: Ends
  visible: boolean
}

/**
 * Decides whether a request may be answered now. A request is shown when the start and the end of its input have been
 * on screen and no part of it is closed. Allowing needs that, and a card that has not moved for a while; keys also need
 * the card to be selected and completely visible.
 *
 * On screen is what was painted, and a person acts when the key goes down. So cards are measured in each frame, and
 * times are those of frames and events: a page that is busy does neither show nor handle anything in time.
 */
export class AnswerGate extends Store<GateView> {
  readonly #standings = new Map<string, Standing>()
  readonly #act = new LastAct()
  /** Which card has had the ring, and since when. */
  readonly #ring: Painted = { ...UNPAINTED }
  #frame: number | undefined

  constructor() {
    super({ selected: undefined, readiness: new Map() })
  }

  /** Watches an element until the returned function is called. */
  watch(id: string, watched: Watched): () => void {
    const standing: Standing = { ...watched, ...UNPAINTED, ...NO_ENDS, ends: NO_ENDS, visible: false }
    this.#standings.set(id, standing)
    if (this.#frame === undefined) this.#begin()
    return () => {
      if (this.#standings.get(id) === standing) this.#standings.delete(id)
      this.#select()
      this.#publish()
      if (this.#standings.size === 0) this.#finish()
    }
  }

  /** Gives the keys to a card, as long as all of it is visible. */
  select(id: string): void {
    if (this.get().selected !== id) this.update({ selected: id })
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
    const standing = this.#standings.get(id)
    if (!standing || !this.#isWhole(standing) || !this.#isStill(standing)) return false
    if (by === 'pointer') return true
    if (this.#act.quietFor === 0 || !standing.visible) return false
    return by === 'button-key' || this.#hasKeys(id)
  }

  /** Whether a key that allows nothing, such as the one for denying, belongs to this card now. */
  mayUseKey(id: string): boolean {
    const standing = this.#standings.get(id)
    return standing?.visible === true && this.#isStill(standing) && this.#hasKeys(id)
  }

  /**
   * Starts again: after an answer, because some agents ask the same again under the same id, and when the card shows
   * its input in another way.
   */
  startAgain(id: string): void {
    const standing = this.#standings.get(id)
    if (standing) Object.assign(standing, UNPAINTED, NO_ENDS, { ends: NO_ENDS })
    this.#publish()
  }

  #hasKeys(id: string): boolean {
    return this.#ring.measured === id && this.#actedAfter(this.#ring) && this.#act.quietFor >= SETTLE_MS
  }

  /** Whether the person acted when this had been on screen for a while. */
  #actedAfter({ since }: Painted): boolean {
    return since !== undefined && this.#act.at - since >= SETTLE_MS
  }

  /** The layout may have changed since the last frame: what the person saw is then not where they acted. */
  #isStill(standing: Standing): boolean {
    const now = this.#measurementOf(standing, isFullyVisible(standing.element))
    return now === standing.measured && this.#actedAfter(standing)
  }

  #isWhole({ members, start, end }: Standing): boolean {
    if (!members) return start && end
    return members.every((id) => {
      const member = this.#standings.get(id)
      return member !== undefined && this.#isWhole(member)
    })
  }

  #measurementOf(standing: Standing, visible: boolean): string {
    const { element, members } = standing
    return `${placeOf(element)} ${visible} ${this.#isWhole(standing)} ${members?.join()}`
  }

  #begin(): void {
    this.#frame = requestAnimationFrame(this.#measure)
    this.#act.begin()
    document.addEventListener('visibilitychange', this.#forget)
  }

  #finish(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
    this.#frame = undefined
    this.#act.finish()
    document.removeEventListener('visibilitychange', this.#forget)
  }

  /** A hidden page has no frames, and is new to the eye when it comes back. */
  readonly #forget = (): void => {
    for (const standing of this.#standings.values()) Object.assign(standing, UNPAINTED)
    this.#publish()
  }

  readonly #measure = (): void => {
    this.#frame = requestAnimationFrame(this.#measure)
    note(this.#ring, this.get().selected ?? '')
    for (const standing of this.#standings.values()) look(standing)
    for (const standing of this.#standings.values())
      note(standing, this.#measurementOf(standing, standing.visible))
    this.#select()
    this.#publish()
  }

  /** Keeps the selection while its card is visible; otherwise the first visible card has the keys. */
  #select(): void {
    const { selected } = this.get()
    if (selected !== undefined && this.#standings.get(selected)?.visible) return
    const next = this.#cardsInOrder().find((id) => this.#standings.get(id)?.visible)
    if (next !== selected) this.update({ selected: next })
  }

  #publish(): void {
    const readiness = new Map<string, Readiness>()
    for (const [id, standing] of this.#standings) readiness.set(id, this.#readinessOf(standing))
    const known = this.get().readiness
    const same = known.size === readiness.size && [...readiness].every(([id, one]) => known.get(id) === one)
    if (!same) this.update({ readiness })
  }

  #readinessOf(standing: Standing): Readiness {
    if (standing.since === undefined) return 'settling'
    if (!this.#isWhole(standing)) return 'unread'
    return performance.now() - standing.since >= SETTLE_MS ? 'ready' : 'settling'
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

/** Notes what of an element is on screen. An end that is there in two frames was painted with the first. */
function look(standing: Standing): void {
  const { element, box, ends } = standing
  standing.visible = isFullyVisible(element)
  if (!box || (standing.start && standing.end)) return
  standing.ends = endsIn(box)
  standing.start ||= ends.start && standing.ends.start
  standing.end ||= ends.end && standing.ends.end
}

/** Which ends of the content of a scroll box are on screen, in the layout of this frame. */
function endsIn(box: HTMLElement): Ends {
  const content = box.firstElementChild
  // Text wraps. If something does not, the part beyond the edge was never shown.
  if (!content || box.scrollWidth > box.clientWidth + 1) return NO_ENDS
  const { start, end } = visibleEnds(content)
  return { start, end: end && !content.querySelector(CLOSED) }
}

/** The one gate of the page, because one card at a time has the keys. */
export const answerGate = new AnswerGate()
