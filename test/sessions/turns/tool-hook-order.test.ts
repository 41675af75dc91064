import { expect, test } from 'vitest'
import type { Run, RunExit } from '../../../src/drivers/driver.ts'
import { systemTimers } from '../../../src/drivers/timers.ts'
import type { RequestOpened } from '../../../src/model/events/request.ts'
import { ToolHooks } from '../../../src/sessions/turns/tool-hook.ts'

const request = (requestId: string): RequestOpened => ({
  type: 'request.opened',
  requestId,
  kind: 'permission',
  blocking: true,
  inputDigest: '',
  options: [],
})

/** Starts hooks that print nothing and exit when the test says so. */
class Hooks {
  readonly exits: (() => void)[] = []
  most = 0
  #running = 0

  start(): Run {
    const exit = Promise.withResolvers<RunExit>()
    this.most = Math.max(this.most, ++this.#running)
    this.exits.push(() => {
      this.#running--
      exit.resolve({ code: 0 })
    })
    return {
      pid: undefined,
      frames: noFrames(),
      exit: exit.promise,
      write: async () => undefined,
      stop: async () => undefined,
    }
  }
}

async function* noFrames(): AsyncGenerator<never> {
  // Prints nothing.
}

test('a hook is asked one request at a time, and not about a request that was withdrawn before', async () => {
  const driver = new Hooks()
  const options = { hooks: { beforeToolCall: { command: ['hook'] as [string] } } }
  const hooks = new ToolHooks({ id: 'session', cwd: '/', options }, { driver, timers: systemTimers })
  const answers = ['a', 'b', 'c'].map((id) => hooks.ask(request(id)))
  await expect.poll(() => driver.exits).toHaveLength(1)
  expect(['a', 'b', 'c', 'd'].map((id) => hooks.decides(id))).toEqual([true, true, true, false])
  hooks.withdraw('b')
  driver.exits[0]?.()
  expect(await answers[0]).toMatchObject({ decision: 'allow', scope: 'once', by: 'hook' })
  expect(hooks.decides('a')).toBe(false)
  expect(await answers[1]).toMatchObject({ decision: 'deny', message: 'the request was withdrawn' })
  await expect.poll(() => driver.exits).toHaveLength(2)
  let isStopped = false
  const stopped = hooks.stop().then(() => {
    isStopped = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isStopped).toBe(false)
  driver.exits[1]?.()
  await stopped
  expect(driver.exits).toHaveLength(2)
  expect(driver.most).toBe(1)
})
