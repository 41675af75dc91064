import { type RefObject, useEffect, useRef, useState } from 'react'

/** Distance from the end, in pixels, within which a list counts as being at its end. */
const NEAR = 80

/** A scroll this soon after an input of a person was made by that person, and not by a list that measures its rows. */
const BY_HAND_MS = 500

const INPUTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const

export interface FollowEnd {
  /** False once someone has scrolled away. */
  following: boolean
  toEnd(): void
}

/** Keeps a scrolling list inside of a frame at its end while it grows, until someone scrolls away from it. */
export function useFollowEnd(frame: RefObject<HTMLElement | null>): FollowEnd {
  const [following, setFollowing] = useState(true)
  const follows = useRef(true)
  const scroller = useRef<HTMLElement | null>(null)
  useEffect(() => {
    const list = frame.current?.querySelector<HTMLElement>('[data-scroller]') ?? null
    scroller.current = list
    if (!list) return
    let touched = Number.NEGATIVE_INFINITY
    const touch = () => {
      touched = performance.now()
    }
    const onScroll = () => {
      const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - NEAR
      if (!atEnd && performance.now() - touched > BY_HAND_MS) return
      follows.current = atEnd
      setFollowing(atEnd)
    }
    const stay = () => {
      if (follows.current) list.scrollTop = list.scrollHeight
    }
    const observer = new ResizeObserver(stay)
    observer.observe(list)
    for (const child of list.children) observer.observe(child)
    for (const name of INPUTS) list.addEventListener(name, touch, { passive: true })
    list.addEventListener('scroll', onScroll, { passive: true })
    stay()
    return () => {
      observer.disconnect()
      for (const name of INPUTS) list.removeEventListener(name, touch)
      list.removeEventListener('scroll', onScroll)
    }
  }, [frame])
  const toEnd = () => {
    follows.current = true
    setFollowing(true)
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  }
  return { following, toEnd }
}
