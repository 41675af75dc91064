import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../src/model/index.ts'
import { CommitFeed } from '../../src/reading/commit-feed.ts'
import { state } from '../stores/sqlite-parts.ts'

const entries = (session: string, from: number, count: number): Entry[] =>
  Array.from({ length: count }, (_, index) => ({
    seq: from + index,
    session,
    at: 0,
    event: { type: 'session.ended', reason: 'completed' },
  }))

/** All that comes after a position, one entry a string. */
function after(activity: CommitFeed, position: number): string[] | 'gone' {
  const seen: string[] = []
  for (let at = position; ; ) {
    const commit = activity.after(at)
    if (commit === 'gone') return 'gone'
    if (!commit) return seen
    for (; at < commit.position + commit.count - 1; at++) {
      seen.push(`${commit.session} ${commit.seq + at + 1 - commit.position}`)
    }
  }
}

test('a reader of one principal gets its commits, and the last one of all', () => {
  const activity = new CommitFeed()
  const principals = ['ann', 'ben', 'ben', 'ann', 'ben', 'ben']
  for (const [index, principal] of principals.entries())
    activity.committed({ ...state(`s${index}`), principal }, { entries: entries(`s${index}`, 1, 2) })
  const seen = (principal: string, from: number) => {
    const found: string[] = []
    for (let at = from; ; ) {
      const commit = activity.after(at, principal)
      if (!commit || commit === 'gone') return found
      found.push(commit.session)
      at = commit.position + commit.count - 1
    }
  }
  expect(seen('ann', 0)).toEqual(['s0', 's3', 's5'])
  expect(seen('ben', 3)).toEqual(['s1', 's2', 's4', 's5'])
  expect(seen('carl', 0)).toEqual(['s5'])
  expect(seen('carl', activity.head)).toEqual([])
})

test('after every position comes exactly what was committed since', () => {
  const commits = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 4 })))
  fc.assert(
    fc.property(commits, (all) => {
      const activity = new CommitFeed()
      const heads = new Map<string, number>()
      const told: string[] = []
      for (const [session, count] of all) {
        const head = heads.get(session) ?? 0
        const batch = entries(session, head + 1, count)
        activity.committed(state(session), { entries: batch })
        heads.set(session, head + count)
        told.push(...batch.map(({ seq }) => `${session} ${seq}`))
      }
      expect(activity.head).toBe(told.length)
      for (let position = 0; position <= told.length; position++)
        expect(after(activity, position)).toEqual(told.slice(position))
    }),
  )
})

test('an evicted commit is reported as gone, never skipped', () => {
  const activity = new CommitFeed(2)
  for (let seq = 1; seq <= 9; seq++) activity.committed(state('a'), { entries: entries('a', seq, 1) })
  const places = Array.from({ length: 10 }, (_, position) => after(activity, position))
  const first = places.findIndex((rest) => rest !== 'gone')
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThanOrEqual(7)
  places.slice(first).forEach((rest, index) => {
    expect(rest).toHaveLength(9 - first - index)
  })
})

describe('waiting', () => {
  test('is over at the next commit, or at once when there was one', async () => {
    const activity = new CommitFeed()
    const { signal } = new AbortController()
    const changed = activity.changed(0, signal)
    activity.committed(state('a'), { entries: entries('a', 1, 1) })
    await changed
    await activity.changed(0, signal)
    expect(activity.head).toBe(1)
  })

  test('does not begin for a reader that is already gone', async () => {
    await new CommitFeed().changed(0, AbortSignal.abort())
  })

  test('ends when its signal fires', async () => {
    const stop = new AbortController()
    const changed = new CommitFeed().changed(0, stop.signal)
    stop.abort()
    await expect(changed).resolves.toBeUndefined()
  })
})
