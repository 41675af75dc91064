import { describe, expect, test } from 'vitest'
import { MainstemError } from '../../../src/model/index.ts'
import { FailedSessions } from '../../../src/sessions/recovery/failed-sessions.ts'
import type { LeasedSession, Takeover } from '../../../src/sessions/recovery/takeover.ts'
import { FakeTime } from '../fake-driver.ts'

const FULL = new MainstemError('storage_failed', 'the disk is full')
const AGAIN = new MainstemError('storage_failed', 'full again')
const STOPPED = Promise.resolve()

/** Settles as often as a test wants, and records every attempt. */
function failures({ resume = async (): Promise<void> => undefined } = {}) {
  const time = new FakeTime()
  const attempts: { at: number; error: MainstemError }[] = []
  let isFull = false
  const settle: Takeover['settle'] = async (_, error) => {
    attempts.push({ at: time.now, error })
    if (isFull) throw FULL
    return { fence: 1 } as LeasedSession
  }
  const readers: (readonly [string, string])[] = []
  const sessions = new FailedSessions(time, { settle } as Takeover, resume, {
    unwritable: (id, { code }) => readers.push([id, code]),
    writable: (id) => readers.push([id, 'writable']),
  })
  const full = (value: boolean) => {
    isFull = value
  }
  return { time, attempts, sessions, full, readers }
}

const settled = async () => {
  for (let tick = 0; tick < 5; tick++) await new Promise((resolve) => setImmediate(resolve))
}

test('a failed session is repaired at once, and then after 1, 2, 4 … 60 seconds', async () => {
  const { time, attempts, sessions, full } = failures()
  full(true)
  sessions.add('a', FULL, STOPPED)
  await settled()
  for (let second = 0; second < 250; second++) await time.pass(1_000)
  const seconds = attempts.map(({ at }) => at / 1000)
  expect(seconds).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
  full(false)
  await time.pass(60_000)
  const repairs = attempts.length
  await time.pass(600_000)
  expect(attempts).toHaveLength(repairs)
})

test('its readers learn that the log cannot be written, and that it can', async () => {
  const { time, sessions, full, readers } = failures()
  sessions.add('momentary', FULL, STOPPED)
  await settled()
  expect(readers).toEqual([['momentary', 'writable']])
  full(true)
  sessions.add('a', FULL, STOPPED)
  await settled()
  await expect(sessions.repair('a')).rejects.toMatchObject({ details: { unwritable: true }, cause: FULL })
  full(false)
  await time.pass(1_000)
  expect(readers.slice(1)).toEqual([
    ['a', 'storage_failed'],
    ['a', 'storage_failed'],
    ['a', 'writable'],
  ])
})

test('nothing is settled before its process has stopped', async () => {
  const { attempts, sessions } = failures()
  const stopped = Promise.withResolvers<void>()
  sessions.add('a', FULL, stopped.promise)
  await settled()
  expect(attempts).toEqual([])
  stopped.resolve()
  await sessions.repaired('a')
  expect(attempts).toHaveLength(1)
})

describe('a session that fails again while its queue is resumed', () => {
  function failingAgain() {
    let rounds = 0
    const own: ReturnType<typeof failures> = failures({
      resume: async () => {
        if (++rounds === 1) own.sessions.add('a', AGAIN, STOPPED)
      },
    })
    return own
  }

  test('stays failed, and is repaired again with its new error', async () => {
    const { time, attempts, sessions } = failingAgain()
    sessions.add('a', FULL, STOPPED)
    await settled()
    await time.pass(60_000)
    expect(attempts.map(({ error }) => error)).toEqual([FULL, AGAIN])
    await sessions.repair('a')
    expect(attempts).toHaveLength(2)
  })

  test('waits longer than the first time', async () => {
    const { time, attempts, sessions } = failingAgain()
    sessions.add('a', FULL, STOPPED)
    await settled()
    expect(attempts).toHaveLength(1)
    await time.pass(1_999)
    expect(attempts).toHaveLength(1)
    await time.pass(1)
    expect(attempts).toHaveLength(2)
  })
})

test('concurrent repairs share one attempt, and a failed attempt can be repeated', async () => {
  const { attempts, sessions, full } = failures()
  full(true)
  const stopped = Promise.withResolvers<void>()
  sessions.add('a', FULL, stopped.promise)
  const both = [sessions.repair('a'), sessions.repair('a')].map((one) => one.catch(({ message }) => message))
  stopped.resolve()
  expect(await Promise.all(both)).toEqual([FULL.message, FULL.message])
  expect(attempts).toHaveLength(1)
  full(false)
  await sessions.repair('a')
  expect(attempts).toHaveLength(2)
})

test('a session that has not failed needs no repair', async () => {
  const { attempts, sessions } = failures()
  await sessions.repair('b')
  await sessions.repaired('b')
  expect(attempts).toEqual([])
})

test('stop tries once more, settles what waits, and nothing is retried or resumed after it', async () => {
  let resumed = 0
  const { time, attempts, sessions, full } = failures({
    resume: async () => {
      resumed++
    },
  })
  full(true)
  sessions.add('a', FULL, STOPPED)
  await settled()
  const waiting = sessions.repaired('a')
  await sessions.stop()
  await waiting
  expect(attempts).toHaveLength(2)
  full(false)
  sessions.add('b', FULL, STOPPED)
  await sessions.repaired('b')
  await time.pass(600_000)
  expect(attempts).toHaveLength(2)
  await sessions.repair('b')
  expect([attempts.length, resumed]).toEqual([3, 0])
})
