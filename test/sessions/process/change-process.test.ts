import { describe, expect, test } from 'vitest'
import { agents } from '../../../src/agents/index.ts'
import { Approval, type LaunchKind, type Policy, Sandbox } from '../../../src/model/index.ts'
import type { FakeRun } from '../fake-driver.ts'
import { house, init, result } from '../house.ts'

const MODES: Record<string, Policy> = {
  auto: { approval: 'auto-all', sandbox: 'full-access' },
  code: { approval: 'auto-edit', sandbox: 'none' },
  plan: { approval: 'ask', sandbox: 'read-only' },
  ask: { approval: 'ask', sandbox: 'none' },
}
const NAMES = Object.keys(MODES)
const PAIRS = NAMES.flatMap((from) => NAMES.map((to) => [from, to] as const))
const policyOf = (name: string): Policy => MODES[name] ?? { approval: 'ask', sandbox: 'none' }

const NATIVE: Record<string, string> = {
  auto: 'bypassPermissions',
  code: 'acceptEdits',
  plan: 'plan',
  ask: 'default',
}

/** Claude after its first turn, its process idle. */
async function idle(policy: Policy, options = {}) {
  const parts = house()
  const session = await parts.open(policy, { options })
  await session.prompt('one')
  const run = await parts.driver.run(1)
  run.say(init, result('1'))
  await session.settled(1)
  return { ...parts, session, run }
}

const isEnded = (run: FakeRun) => run.written.some(({ kind }) => kind === 'end')

describe('a change before the first prompt', () => {
  test('starts no process, and the first one is started with it', async () => {
    const { open, driver, store } = house()
    const session = await open(policyOf('ask'), { options: { model: 'first' } })
    expect(await session.change({ type: 'set_policy', policy: policyOf('plan') })).toBe('now')
    expect(await session.change({ type: 'set_model', model: null })).toBe('now')
    expect(driver.runs).toHaveLength(0)
    expect(await store.record(session.id)).toMatchObject({ policy: policyOf('plan'), options: {} })
    await session.prompt('one')
    const launch = JSON.stringify((await driver.run(1)).launch)
    expect(launch).toContain('--permission-mode=plan')
    expect(launch).not.toContain('--model')
  })
})

describe('claude, while its process is idle', () => {
  test.each(PAIRS)('changes from %s to %s', async (from, to) => {
    const { session, run, driver, store } = await idle(policyOf(from))
    const changing = session.change({ type: 'set_policy', policy: policyOf(to) })
    const restarts = to === 'auto' && from !== 'auto'
    if (restarts) {
      await expect.poll(() => isEnded(run)).toBe(true)
      run.die({ code: 0 })
    }
    expect(await changing).toBe('now')
    expect((await store.record(session.id))?.policy).toEqual(policyOf(to))
    await session.prompt('two')
    if (!restarts) {
      expect(run.input).toContain(`{"subtype":"set_permission_mode","mode":"${NATIVE[to]}"}`)
      expect(driver.runs).toHaveLength(1)
      return
    }
    const launch = JSON.stringify((await driver.run(2)).launch)
    expect(launch).toContain('--dangerously-skip-permissions')
    expect(launch).toContain('--resume=native-1')
  })

  test('returns to the default model by its name', async () => {
    const { session, run } = await idle(policyOf('ask'), { model: 'opus' })
    await session.change({ type: 'set_model', model: null })
    expect(run.input).toContain('{"subtype":"set_model","model":"default"}')
  })
})

describe('a change during a turn', () => {
  async function working(policy: Policy) {
    const parts = house()
    const session = await parts.open(policy)
    await session.prompt('one')
    const run = await parts.driver.run(1)
    run.say(init)
    return { ...parts, session, run }
  }

  test('is applied at once where the protocol can', async () => {
    const { session, run } = await working(policyOf('ask'))
    expect(await session.change({ type: 'set_policy', policy: policyOf('plan') })).toBe('now')
    expect(run.input).toContain('"set_permission_mode"')
  })

  test('is otherwise applied to the next turn, in a process that resumes the conversation', async () => {
    const { session, run, driver, store } = await working(policyOf('ask'))
    expect(await session.change({ type: 'set_policy', policy: policyOf('auto') })).toBe('next_turn')
    expect((await store.record(session.id))?.policy).toEqual(policyOf('auto'))
    await session.prompt('two')
    run.say(result('1'))
    await expect.poll(() => isEnded(run)).toBe(true)
    run.die({ code: 0 })
    const launch = JSON.stringify((await driver.run(2)).launch)
    expect(launch).toContain('--dangerously-skip-permissions')
    expect(launch).toContain('--resume=native-1')
    expect(driver.runs).toHaveLength(2)
  })
})

test('a policy that the agent cannot keep is refused, and the old one stays', async () => {
  const { open, driver, store } = house()
  const session = await open(policyOf('ask'))
  const policy: Policy = { approval: 'ask', sandbox: 'workspace-write' }
  await expect(session.change({ type: 'set_policy', policy })).rejects.toMatchObject({
    code: 'unsupported_option',
  })
  expect((await store.record(session.id))?.policy).toEqual(policyOf('ask'))
  expect(driver.runs).toHaveLength(0)
})

const LAUNCHES = agents.flatMap(({ id, launches }) =>
  (Object.keys(launches) as LaunchKind[]).map((launch) => [id, launch] as const),
)
const POLICIES: Policy[] = Approval.options.flatMap((approval) =>
  Sandbox.options.map((sandbox) => ({ approval, sandbox })),
)

/** The launch of a new session with this policy, or why there is none. */
async function created(id: string, launch: LaunchKind, policy: Policy) {
  const { open, driver } = house()
  try {
    const session = await open(policy, { agent: id, launch })
    await session.prompt('go')
    return JSON.stringify((await driver.run(1)).launch)
  } catch (thrown) {
    return thrown
  }
}

describe.each(LAUNCHES)('%s %s', (id, launch) => {
  test('takes every change of policy that a new session could begin with, and no other', async () => {
    const outcomes = new Map<Policy, unknown>()
    for (const policy of POLICIES) outcomes.set(policy, await created(id, launch, policy))
    const possible = POLICIES.filter((policy) => typeof outcomes.get(policy) === 'string')
    for (const from of possible) {
      for (const to of POLICIES) {
        const { open, driver, store } = house()
        const session = await open(from, { agent: id, launch })
        const change = session.change({ type: 'set_policy', policy: to })
        if (possible.includes(to)) {
          expect(await change).toBe('now')
          await session.prompt('go')
          expect(JSON.stringify((await driver.run(1)).launch)).toEqual(outcomes.get(to))
        } else {
          await expect(change).rejects.toMatchObject({ code: 'unsupported_option' })
          expect((await store.record(session.id))?.policy).toEqual(from)
          expect(driver.runs).toHaveLength(0)
        }
      }
    }
  })
})
