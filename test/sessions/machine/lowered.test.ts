import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isInside } from '../../../src/compose/is-inside.ts'
import { lowered } from '../../../src/gateway/access/ceiling.ts'
import { loweredOptions } from '../../../src/gateway/access/option-limits.ts'
import { isStillBelow } from '../../../src/gateway/access/roots.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { asks, house, init } from '../house.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'lowered-')))
  for (const name of ['roots', 'roots/work', 'outside']) mkdirSync(join(root, name))
})
afterEach(() => rmSync(root, { recursive: true }))

const options = {
  env: { EXTRA: 'x' },
  mcpServers: { files: { command: '/bin/mcp' } },
  hooks: { beforeToolCall: { command: ['/bin/true'] } },
}

test('a session from before the ceiling was lowered has no variables, MCP servers or hook any more', async () => {
  const store = memoryStore()
  const first = house(store)
  const { id } = await first.open({}, { options })
  await first.sessions.drain()
  const ceiling = { approval: 'ask', sandbox: 'none' } as const
  const second = house(store, {
    limit: (policy) => lowered(policy, ceiling),
    versionOf: async () => undefined,
    limitOptions: (options) => loweredOptions(options, { ceiling, roots: [] }),
  })
  const session = await second.sessions.open(id)
  await session.prompt('go')
  const run = await second.driver.run()
  expect(run.context.env).toEqual({})
  expect(JSON.stringify([run.launch, run.written])).not.toContain('/bin/mcp')
  run.say(init, asks('r1'))
  await expect.poll(async () => (await store.record(id))?.requests.length).toBe(1)
  const opened = (await second.log(session)).find(({ event }) => event.type === 'request.opened')
  expect(opened?.event).not.toHaveProperty('answeredBy')
  expect(second.driver.runs).toHaveLength(1)
  expect((await store.record(id))?.options).toEqual({})
})

describe('a working directory that was replaced by a link', () => {
  const place = () => join(root, 'roots/work')
  const replace = () => {
    renameSync(place(), join(root, 'roots/moved'))
    symlinkSync(join(root, 'outside'), place())
  }
  const limited = () =>
    house(memoryStore(), {
      limit: (policy) => policy,
      versionOf: async () => undefined,
      mayWorkIn: (directory) => isStillBelow([join(root, 'roots')], directory),
      isInside,
    })

  test('starts no agent', async () => {
    const { open, driver } = limited()
    const session = await open({}, { cwd: place() })
    replace()
    await session.prompt('go')
    expect(await session.settled(1)).toMatchObject({ outcome: 'failed', error: { code: 'forbidden' } })
    expect(driver.runs).toEqual([])
  })

  test('starts no hook, so the call is denied', async () => {
    const { open, driver, log } = limited()
    const { hooks } = options
    const session = await open({}, { cwd: place(), options: { hooks } })
    await session.prompt('go')
    const run = await driver.run()
    replace()
    run.say(init, asks('r1'))
    await expect.poll(async () => JSON.stringify(await log(session))).toContain('"decision":"deny"')
    expect(driver.runs).toHaveLength(1)
  })

  test('is no workspace in which the policy allows edits', async () => {
    const { open, driver, log, store } = limited()
    const session = await open({ approval: 'auto-edit' }, { cwd: place() })
    await session.prompt('go')
    const run = await driver.run()
    const edit = (id: string) => {
      const { request, ...ask } = asks(id, 'Write')
      return { ...ask, request: { ...request, input: { file_path: join(place(), 'a.txt'), content: '' } } }
    }
    run.say(init, edit('r1'))
    await expect.poll(async () => JSON.stringify(await log(session))).toContain('"decision":"allow"')
    replace()
    run.say(edit('r2'))
    await expect
      .poll(async () => (await store.record(session.id))?.requests.map(({ requestId }) => requestId))
      .toEqual(['e1.r2'])
  })
})
