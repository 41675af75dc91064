import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import { asks, house, init } from '../house.ts'
import { bound } from './bound-answer.ts'

const cancels = (id: string) => ({ type: 'control_cancel_request', request_id: id })

/** Lets every pending microtask and I/O callback run. */
const turns = () => new Promise((resolve) => setImmediate(resolve))

/** The commands that an answer of ours allowed, as an agent that reuses one id understands it. */
function allowedIn(written: readonly unknown[]): number {
  return written.filter((write) => JSON.stringify(write).includes('\\"behavior\\":\\"allow\\"')).length
}

test('an answer to a withdrawn request is refused when the agent reuses its id for another command', async () => {
  const { open, driver, store } = house()
  const session = await open()
  await session.prompt('go')
  const run = await driver.run()
  run.say(init, asks('a', 'Bash', 'ls'))
  const answer = await bound(store, session.id, { type: 'answer', requestId: 'e1.a', decision: 'allow' })
  run.say(cancels('a'), asks('a', 'Bash', 'rm -rf /'))
  await expect.poll(() => session.coverage.frames).toBe(4)
  await expect(session.answer(answer)).rejects.toMatchObject({
    code: 'conflict',
    details: { field: 'inputDigest' },
  })
  await turns()
  expect(allowedIn(run.written)).toBe(0)
})

test('a committed answer is not written once the agent has reused the id for another command', async () => {
  const store = memoryStore()
  const { open, driver } = house(store)
  const session = await open()
  await session.prompt('go')
  const run = await driver.run()
  run.say(init, asks('a', 'Bash', 'ls'))
  const answer = await bound(store, session.id, { type: 'answer', requestId: 'e1.a', decision: 'allow' })
  const gate = Promise.withResolvers<void>()
  const append = store.append.bind(store)
  store.append = async (...args) => {
    await gate.promise
    return append(...args)
  }
  const answered = session.answer(answer)
  run.say(cancels('a'), asks('a', 'Bash', 'rm -rf /'))
  await expect.poll(() => session.coverage.frames).toBe(4)
  gate.resolve()
  await answered
  expect(allowedIn(run.written)).toBe(0)
  store.append = append
  const deny = { type: 'answer', requestId: 'e1.a', decision: 'deny' } as const
  await session.answer(await bound(store, session.id, deny))
  expect(JSON.stringify(run.written)).toContain('deny')
})

test('a policy does not allow a command with the answer to the harmless one that it replaced', async () => {
  const { open, driver, log } = house()
  const session = await open({ approval: 'ask-dangerous' })
  await session.prompt('go')
  const run = await driver.run()
  run.say(init, asks('a', 'Read', 'x'), cancels('a'), asks('a', 'Bash', 'rm -rf /'))
  await expect.poll(() => session.coverage.frames).toBe(4)
  await turns()
  expect((await log(session)).filter(({ event }) => event.type === 'request.resolved')).toEqual([])
  expect(allowedIn(run.written)).toBe(0)
})

test('a hook does not decide a command with its answer to the one that it replaced', async () => {
  const { open, driver, log } = house()
  const hooks = { beforeToolCall: { command: ['/bin/hook'] } }
  const session = await open({}, { options: { hooks } })
  await session.prompt('go')
  const run = await driver.run()
  run.say(init, asks('a', 'Bash', 'ls'))
  const first = await driver.run(2)
  first.onStop = () => first.die({ code: 0 })
  run.say(cancels('a'), asks('a', 'Bash', 'rm -rf /'))
  await expect.poll(() => session.coverage.frames).toBe(4)
  const second = await driver.run(3)
  expect(second.input).toContain('rm -rf /')
  const early = { type: 'answer', requestId: 'e1.a', decision: 'allow' } as const
  const entries = { read: async () => log(session) }
  await expect(session.answer(await bound(entries, session.id, early))).rejects.toMatchObject({
    code: 'conflict',
  })
  second.die({ code: 1 })
  await expect.poll(async () => JSON.stringify(await log(session))).toContain('"decision":"deny"')
  expect(allowedIn(run.written)).toBe(0)
})

test('no answer reaches the wrong command while an agent withdraws and reuses one id 400 times', async () => {
  const { open, driver, store } = house()
  const session = await open()
  await session.prompt('go')
  const run = await driver.run()
  run.say(init)
  let current = 'none'
  let wrong = 0
  run.onWrite = (write) => {
    if (allowedIn([write]) > 0 && current !== 'ls') wrong++
  }
  const results: Promise<string>[] = []
  let frames = 1
  for (let round = 0; round < 400; round++) {
    current = 'ls'
    run.say(asks('a', 'Bash', 'ls'))
    frames++
    await expect.poll(() => session.coverage.frames, { interval: 0 }).toBe(frames)
    const answer = await bound(store, session.id, { type: 'answer', requestId: 'e1.a', decision: 'allow' })
    // The answer is in flight at every distance from the withdrawal that the event loop allows.
    for (let step = 0; step < round % 7; step++) await Promise.resolve()
    const [sent, late] = round % 2 === 0 ? [true, false] : [false, true]
    if (sent) results.push(outcome(session.answer(answer)))
    run.say(cancels('a'), asks('a', 'Bash', 'rm -rf /'))
    // Until these frames are read the agent's request is not ours to know, so an answer still means `ls`.
    frames += 2
    await expect.poll(() => session.coverage.frames, { interval: 0 }).toBe(frames)
    current = 'rm -rf /'
    if (late) results.push(outcome(session.answer(answer)))
    await turns()
    run.say(cancels('a'))
    frames++
    await expect.poll(() => session.coverage.frames, { interval: 0 }).toBe(frames)
  }
  expect(wrong).toBe(0)
  expect((await Promise.all(results)).filter((one) => one === 'conflict')).toHaveLength(200)
})

const outcome = (answered: Promise<void>) =>
  answered.then(
    () => 'ok',
    (thrown) => String(thrown.code),
  )
