import { expect, test } from 'vitest'
import { LiveLogs } from '../../src/stores/sqlite/live-logs.ts'

/** A database with a log for every name, that tells which of them were looked up. */
function database() {
  const asked: string[] = []
  const storedLog = (session: string) => {
    asked.push(session)
    return { n: 1, head: 7, fence: 0, owner: undefined }
  }
  return { asked, storedLog, lastSession: () => 1 }
}

function use(logs: LiveLogs, session: string) {
  const log = logs.open(session)
  logs.release(log)
  return log
}

test('a log that was in use a moment ago is not looked up again', () => {
  const source = database()
  const logs = new LiveLogs(source)
  const log = use(logs, 'a')
  expect(use(logs, 'a')).toBe(log)
  expect(source.asked).toEqual(['a'])
})

test('logs that were not in use for long are forgotten and found again, those in use are not', async () => {
  const source = database()
  const logs = new LiveLogs(source)
  use(logs, 'idle')
  const waited = logs.open('waited')
  const waiting = waited.wait(7, new AbortController().signal)
  logs.release(waited)
  for (let other = 0; other < 5000; other++) use(logs, `other ${other}`)
  expect(logs.get('idle')).toBeUndefined()
  expect(use(logs, 'idle').head).toBe(7)
  expect(source.asked.filter((session) => session === 'idle')).toHaveLength(2)
  expect(logs.get('waited')).toBe(waited)
  waited.advance(8)
  await waiting
})

test('a log that was used again after it was idle is the last to be forgotten', () => {
  const source = database()
  const logs = new LiveLogs(source)
  use(logs, 'first')
  for (let other = 0; other < 4000; other++) use(logs, `other ${other}`)
  use(logs, 'first')
  for (let other = 4000; other < 5000; other++) use(logs, `other ${other}`)
  expect(logs.get('first')).toBeDefined()
  expect(logs.get('other 0')).toBeUndefined()
})
