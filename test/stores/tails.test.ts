import { expect, test } from 'vitest'
import { Tails } from '../../src/stores/log-store/tails.ts'
import { entriesOf } from '../dialects/entries.ts'

const never = new AbortController().signal

/** A database with a log for every name, that tells which heads were asked for. */
function database() {
  const asked: string[] = []
  const headOf = async (session: string) => {
    asked.push(session)
    return 7
  }
  return { asked, heads: { isShared: false, headOf, ownHead: () => undefined } }
}

test('the head of a log that was awaited before is not asked for again', async () => {
  const { asked, heads } = database()
  const tails = new Tails(heads)
  await tails.changed('a', 6, never)
  await tails.changed('a', 6, never)
  expect(asked).toEqual(['a'])
})

test('logs that are not in use are forgotten, those that are awaited are not', async () => {
  const { asked, heads } = database()
  const tails = new Tails(heads)
  await tails.changed('idle', 6, never)
  const waiting = tails.changed('awaited', 7, never)
  for (let other = 0; other < 5000; other++) await tails.changed(`other ${other}`, 6, never)
  expect(tails.awaited).toEqual(['awaited'])
  await tails.changed('idle', 6, never)
  expect(asked.filter((session) => session === 'idle')).toHaveLength(2)
  tails.advance('awaited', 8)
  await waiting
})

test('a reader is woken if a commit that failed is stored after all', async () => {
  let head = 7
  const tails = new Tails({ isShared: true, headOf: async () => head, ownHead: () => undefined })
  const woken = tails.changed('a', 7, never)
  await Promise.resolve()
  head = 8
  tails.recheck(['a'])
  await woken
})

test('a log that was deleted takes no room from the others', () => {
  const tails = new Tails(database().heads)
  const commit = (session: string, megabytes: number) => {
    const text = 'x'.repeat(megabytes * 1024 * 1024)
    const entries = entriesOf({ type: 'session.ended', reason: 'completed' })
    tails.committed({ session, entries, texts: [text], chars: text.length })
  }
  commit('kept', 1)
  commit('deleted', 2)
  tails.forget('deleted')
  commit('busy', 2)
  expect(tails.has('deleted', 0)).toBe(false)
  expect(tails.has('kept', 0)).toBe(true)
  commit('busier', 2)
  expect(tails.has('kept', 0)).toBe(false)
})
