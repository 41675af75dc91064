import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
/** How far the clock of the server is ahead of the browser's. */
let offset = 0
let seconds = Math.floor(Date.now() / 1000)

/** Follows the clock of the server, because every time on the page is one of its times. */
export function setServerTime(now: number): void {
  offset = now - Date.now()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  seconds = Math.floor((Date.now() + offset) / 1000)
  for (const listener of listeners) listener()
}

/** The time in milliseconds, to the second. It advances by itself, whether or not data arrives. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => seconds) * 1000
}
