import { describe, expect, test } from 'vitest'
import type { Entry } from '../../src/model/index.ts'
import { house, init, result } from './house.ts'

const CLAUDE = { agent: 'claude', cwd: '/' }
const never = new AbortController().signal

describe('an impossible request is refused before anything starts', () => {
  test.each([
    ['an unknown agent', { ...CLAUDE, agent: 'nobody' }, 'agent_not_found'],
    [
      'a launch it does not have',
      { agent: 'demo', cwd: '/', launch: 'oneshot' as const },
      'unsupported_option',
    ],
    ['a policy it cannot enforce', { ...CLAUDE, policy: policy('workspace-write') }, 'unsupported_option'],
    ['a native session that is a flag', { ...CLAUDE, resume: '--last' }, 'invalid_request'],
    ['a model that is a flag', { ...CLAUDE, options: { model: '--x' } }, 'invalid_request'],
  ])('%s', async (_what, request, code) => {
    const { sessions, driver } = house()
    await expect(sessions.create(request)).rejects.toMatchObject({ code })
    const once = { scope: 's', key: 'k', fingerprint: 'f' }
    await expect(sessions.createOnce(once, async () => request, 'go')).rejects.toMatchObject({ code })
    // A refused request must not use up its key.
    expect(await sessions.receipts.find(once)).toBeUndefined()
    expect(driver.runs).toEqual([])
  })
})

describe('an idempotency key', () => {
  const once = { scope: 'somebody POST', key: 'k', fingerprint: 'f' }

  test('gives one session however many ask at once', async () => {
    const { sessions, driver } = house()
    const asked = await Promise.all(
      Array.from({ length: 20 }, () => sessions.createOnce(once, async () => CLAUDE, 'go')),
    )
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1)
    expect(asked.filter(({ session }) => session)).toHaveLength(1)
    expect(driver.runs).toHaveLength(1)
    expect((await sessions.receipts.find(once))?.session).toBe(asked[0]?.id)
  })

  test('is refused for another request, and is separate for each principal', async () => {
    const { sessions } = house()
    const first = await sessions.createOnce(once, async () => CLAUDE, 'go')
    const other = { ...once, fingerprint: 'g' }
    await expect(sessions.createOnce(other, async () => CLAUDE, 'go')).rejects.toMatchObject({
      code: 'idempotency_conflict',
    })
    await expect(sessions.receipts.find(other)).rejects.toMatchObject({ code: 'idempotency_conflict' })
    const elsewhere = await sessions.createOnce({ ...once, scope: 'another POST' }, async () => CLAUDE, 'go')
    expect(elsewhere.id).not.toBe(first.id)
  })
})

describe('following a session', () => {
  test('replays, then follows live, and every reader sees the same', async () => {
    const { sessions, open, driver } = house()
    const session = await open()
    await session.prompt('one')
    const early = collect(sessions.follow(session.id, 0, never))
    const run = await driver.run()
    run.say(init, result('1'))
    await session.settled(1)
    const middle = collect(sessions.follow(session.id, 0, never))
    const resumed = collect(sessions.follow(session.id, 2, never))
    run.onStop = () => run.die({ code: 0 })
    void expect
      .poll(() => run.written)
      .toContainEqual({ kind: 'end' })
      .then(() => run.die({ code: 0 }))
    await sessions.end(session.id)
    const log = await early
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
    expect(log.at(-1)?.event.type).toBe('session.ended')
    expect(await middle).toEqual(log)
    expect(await resumed).toEqual(log.slice(2))
  })

  test('stops when the reader has had enough', async () => {
    const { sessions, open } = house()
    const session = await open()
    const leave = new AbortController()
    const reading = collect(sessions.follow(session.id, 0, leave.signal))
    leave.abort()
    expect(await reading).toHaveLength(1)
  })
})

test('draining ends every turn and takes no more work', async () => {
  const { sessions, open, driver, types } = house()
  const session = await open({}, { launch: 'oneshot' })
  await session.prompt('one')
  await driver.run()
  await sessions.drain()
  expect(await session.settled(1)).toMatchObject({ outcome: 'interrupted' })
  expect((await types(session)).at(-1)).toBe('turn.completed')
  await expect(open()).rejects.toMatchObject({ code: 'draining' })
})

function policy(sandbox: 'workspace-write') {
  return { approval: 'ask' as const, sandbox }
}

async function collect(batches: AsyncIterable<readonly Entry[]>): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const batch of batches) entries.push(...batch)
  return entries
}
