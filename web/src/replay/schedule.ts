import type { Entry } from 'mainstem/client'

/** Longer pauses of the recording are shortened to this. */
const LONGEST_PAUSE_MS = 3_000

/**
 * When each entry of a recording is due, in milliseconds from its start, with long pauses shortened. Entries of the
 * same millisecond are one apart, so that the scrubber can stop at each.
 */
export function scheduleOf(entries: readonly Pick<Entry, 'at'>[]): number[] {
  const times: number[] = []
  let time = 0
  let before: number | undefined
  for (const { at } of entries) {
    if (before !== undefined) time += Math.min(LONGEST_PAUSE_MS, Math.max(1, at - before))
    before = Math.max(before ?? at, at)
    times.push(time)
  }
  return times
}

/** The number of entries that are due at a time. */
export function dueAt(schedule: readonly number[], time: number): number {
  let [low, high] = [0, schedule.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((schedule[middle] ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low
}
