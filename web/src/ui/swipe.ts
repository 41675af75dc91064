import { useEffect, useEffectEvent } from 'react'

/** The distance in pixels that makes a movement a swipe. */
const FAR = 80
/** A slower movement selects text or reads. */
const SLOW_MS = 600

/** Runs an action for a quick horizontal movement of one finger: 1 to the next, -1 back. */
export function useSwipe(swiped: (towards: 1 | -1) => void): void {
  const run = useEffectEvent(swiped)
  useEffect(() => {
    let from: { x: number; y: number; at: number } | undefined
    const start = ({ touches, target, timeStamp }: TouchEvent) => {
      const [touch, another] = touches
      const isAlone = touch !== undefined && another === undefined
      from = isAlone && !isTaken(target) ? { x: touch.clientX, y: touch.clientY, at: timeStamp } : undefined
    }
    const end = ({ changedTouches: [touch], timeStamp }: TouchEvent) => {
      if (!from || !touch) return
      const [x, y] = [touch.clientX - from.x, touch.clientY - from.y]
      const isSwipe = Math.abs(x) >= FAR && Math.abs(x) > 2 * Math.abs(y) && timeStamp - from.at < SLOW_MS
      from = undefined
      if (isSwipe) run(x < 0 ? 1 : -1)
    }
    addEventListener('touchstart', start, { passive: true })
    addEventListener('touchend', end, { passive: true })
    return () => {
      removeEventListener('touchstart', start)
      removeEventListener('touchend', end)
    }
  }, [])
}

/** Fields, dialogs and what scrolls sideways have their own use for the movement. */
function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof Element) || target.closest('input, textarea, select, dialog')) return true
  for (let element: Element | null = target; element; element = element.parentElement) {
    const scrolls = /auto|scroll/.test(getComputedStyle(element).overflowX)
    if (scrolls && element.scrollWidth > element.clientWidth) return true
  }
  return false
}
