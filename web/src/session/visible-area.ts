interface Area {
  left: number
  top: number
  right: number
  bottom: number
}

/** Rounding of coordinates is no movement, and hides no text. */
const TOLERANCE = 1

/** Distance of the points that are tested for cover from the edges, inside of rounded corners. */
const INSET = 10

/** The part of an element that the window and the scroll boxes around it let through, if any. */
function visiblePart(element: Element): Area | undefined {
  if (!element.checkVisibility() || document.visibilityState === 'hidden') return undefined
  const { left, top, right, bottom } = element.getBoundingClientRect()
  const part = { left, top, right, bottom }
  clip(part, { left: 0, top: 0, right: innerWidth, bottom: innerHeight })
  for (let around = element.parentElement; around; around = around.parentElement) {
    if (getComputedStyle(around).overflow !== 'visible') clip(part, around.getBoundingClientRect())
  }
  return part.right > part.left && part.bottom > part.top ? part : undefined
}

function clip(part: Area, by: Area): void {
  part.left = Math.max(part.left, by.left)
  part.top = Math.max(part.top, by.top)
  part.right = Math.min(part.right, by.right)
  part.bottom = Math.min(part.bottom, by.bottom)
}

export interface Ends {
  start: boolean
  end: boolean
}

export const NO_ENDS: Readonly<Ends> = { start: false, end: false }

/** Which ends of an element are in the window now, over its whole width, and nothing lies over them. */
export function visibleEnds(element: Element): Ends {
  const part = visiblePart(element)
  const { left, top, right, bottom } = element.getBoundingClientRect()
  if (!part || part.left > left + TOLERANCE || part.right < right - TOLERANCE) return NO_ENDS
  return {
    start: part.top <= top + TOLERANCE && !isCoveredAt(element, top + INSET),
    end: part.bottom >= bottom - TOLERANCE && !isCoveredAt(element, bottom - INSET),
  }
}

/** Whether all of an element is on screen, and nothing lies over it. */
export function isFullyVisible(element: Element): boolean {
  const { start, end } = visibleEnds(element)
  const { top, bottom } = element.getBoundingClientRect()
  return start && end && !isCoveredAt(element, (top + bottom) / 2)
}

function isCoveredAt(element: Element, y: number): boolean {
  const { left, right } = element.getBoundingClientRect()
  return [left + INSET, (left + right) / 2, right - INSET].some(
    (x) => !element.contains(document.elementFromPoint(x, y)),
  )
}

/** The place of an element in the window, comparable as text. */
export function placeOf(element: Element): string {
  const { left, top, right, bottom } = element.getBoundingClientRect()
  return [left, top, right, bottom].map(Math.round).join(' ')
}
