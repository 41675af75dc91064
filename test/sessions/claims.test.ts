import { expect, test } from 'vitest'
import type { Claim } from '../../src/sessions/claim.ts'
import { house, init, said } from './house.ts'

const claim = (key: string): Claim => ({
  scope: 'local /interrupt',
  key,
  fingerprint: key,
  answer: 'session',
})

test('every key of an interrupt is stored with the end of its turn, and answers with it', async () => {
  const { open, driver, store } = house()
  const session = await open()
  await session.prompt('go')
  const run = await driver.run()
  run.say(init, said('half'))
  await expect.poll(() => session.coverage.frames).toBe(2)
  const both = [
    session.interrupt(1, { claims: [claim('a')] }),
    session.interrupt(1, { claims: [claim('b')] }),
  ]
  expect(await store.receipt('local /interrupt', 'a')).toBeUndefined()
  run.die({ signal: 'SIGINT' })
  await Promise.all(both)
  for (const key of ['a', 'b']) {
    expect(await store.receipt('local /interrupt', key)).toMatchObject({
      session: session.id,
      answer: { status: 'idle', lastOutcome: 'interrupted' },
    })
  }
})

test('the key of a command that found nothing to do is stored at once', async () => {
  const { open, sessions, store } = house()
  const session = await open()
  await session.interrupt(undefined, { claims: [claim('none')] })
  await sessions.remember(session.id, { claims: [claim('other')] })
  for (const key of ['none', 'other']) {
    expect(await store.receipt('local /interrupt', key)).toMatchObject({ answer: { status: 'idle' } })
  }
})

test('the key of a dropped prompt is stored with its end', async () => {
  const { open, driver, store } = house()
  const session = await open()
  await session.prompt('one')
  await session.prompt('two')
  await driver.run()
  await session.interrupt(2, { claims: [claim('queued')] })
  expect(await store.receipt('local /interrupt', 'queued')).toMatchObject({ answer: { status: 'busy' } })
  expect(await session.settled(2)).toMatchObject({ outcome: 'interrupted' })
})
