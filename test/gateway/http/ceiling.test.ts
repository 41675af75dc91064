import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lowered, underCeiling } from '../../../src/gateway/access/ceiling.ts'
import { Approval, type Policy, Sandbox } from '../../../src/model/index.ts'
import { startGateway } from '../start.ts'

const ceiling: Policy = {
  approval: 'auto-edit',
  sandbox: 'workspace-write',
  writableRoots: ['/cache'],
  tools: { available: ['Read', 'Edit', 'Bash'], preapproved: ['Read'], denied: ['WebFetch'] },
  maxSteps: 10,
  timeoutMs: 1000,
}
const base: Policy = { approval: 'ask', sandbox: 'read-only' }

describe('a policy', () => {
  test('below the ceiling gets its limits', () => {
    expect(underCeiling({ ...base, tools: { denied: ['Bash'] }, maxSteps: 5 }, ceiling)).toEqual({
      ...base,
      tools: { available: ['Read', 'Edit', 'Bash'], denied: ['WebFetch', 'Bash'] },
      maxSteps: 5,
      timeoutMs: 1000,
    })
  })

  test.each<[string, Partial<Policy>]>([
    ['approval', { approval: 'auto-all' }],
    ['sandbox', { sandbox: 'none' }],
    ['sandbox', { sandbox: 'full-access' }],
    ['network', { network: true }],
    ['writableRoots', { writableRoots: ['/cache', '/'] }],
    ['tools.preapproved', { tools: { preapproved: ['Bash'] } }],
    ['tools.available', { tools: { available: ['Read', 'WebFetch'] } }],
    ['maxSteps', { maxSteps: 11 }],
    ['timeoutMs', { timeoutMs: 1001 }],
  ])('above it in %s is forbidden by name', (name, more) => {
    expect(() => underCeiling({ ...base, ...more }, ceiling)).toThrow(
      expect.objectContaining({ code: 'forbidden', details: { field: `policy.${name}` } }),
    )
  })

  test('may ask for anything of a kind that the ceiling grants whole', () => {
    const most: Policy = { approval: 'auto-all', sandbox: 'full-access' }
    const asked: Policy = {
      ...most,
      network: true,
      writableRoots: ['/'],
      tools: { preapproved: ['Bash'], available: ['Bash'] },
      maxSteps: 1000,
    }
    expect(underCeiling(asked, most)).toEqual(asked)
  })

  test('has no network where the ceiling has none', () => {
    const offline: Policy = { approval: 'auto-all', sandbox: 'full-access', network: false }
    expect(underCeiling(base, offline).network).toBe(false)
  })
})

test('the result never exceeds the ceiling, and applying it again changes nothing', () => {
  const policy = fc.record(
    {
      approval: fc.constantFrom(...Approval.options),
      sandbox: fc.constantFrom(...Sandbox.options),
      network: fc.boolean(),
      maxSteps: fc.integer({ min: 1, max: 3 }),
      tools: fc.record({ denied: fc.subarray(['A', 'B']), preapproved: fc.subarray(['A', 'B']) }),
    },
    { requiredKeys: ['approval', 'sandbox'] },
  )
  fc.assert(
    fc.property(policy, policy, (asked, most) => {
      const limited = tryUnder(asked, most)
      if (!limited) return
      expect(underCeiling(limited, most)).toEqual(limited)
      expect(limited.maxSteps ?? 0).toBeLessThanOrEqual(most.maxSteps ?? 3)
      expect(limited.tools?.denied ?? []).toEqual(expect.arrayContaining(most.tools?.denied ?? []))
    }),
  )
})

function tryUnder(asked: Policy, most: Policy): Policy | undefined {
  try {
    return underCeiling(asked, most)
  } catch {
    return undefined
  }
}

test('a task runs under the default policy unless it requests one, and never above the ceiling', async () => {
  await using server = await startGateway({
    ceiling: { approval: 'auto-edit', sandbox: 'none', maxSteps: 9 },
  })
  const policyOf = async (body: object) => {
    const response = await server.execute({ ...body }, { path: '/v1/execute?dialect=mainstem' })
    return /"policy":(\{[^}]*\})/.exec(await response.text())?.[1]
  }
  expect(await policyOf({})).toBe('{"approval":"ask","sandbox":"none","maxSteps":9}')
  expect(await policyOf({ idempotency_key: 'k2', policy: { approval: 'auto-edit' } })).toContain('auto-edit')
  const response = await server.execute({ idempotency_key: 'k3', policy: { approval: 'auto-all' } })
  expect(response.status).toBe(403)
  expect(await response.json()).toMatchObject({ code: 'forbidden', field: 'policy.approval' })
})

test('a policy that is lowered never needs to be refused, and one below the ceiling is only limited', () => {
  const names = fc.subarray(['Read', 'Edit', 'Bash', 'WebFetch', 'Other'])
  const policies = fc.record(
    {
      approval: fc.constantFrom(...Approval.options),
      sandbox: fc.constantFrom(...Sandbox.options),
      network: fc.boolean(),
      writableRoots: fc.subarray(['/cache', '/other']),
      tools: fc.record({ available: names, preapproved: names, denied: names }, { requiredKeys: [] }),
      maxSteps: fc.integer({ min: 1, max: 20 }),
      timeoutMs: fc.integer({ min: 1, max: 2000 }),
    },
    { requiredKeys: ['approval', 'sandbox'] },
  )
  const isRefused = (policy: Policy) => {
    try {
      underCeiling(policy, ceiling)
      return false
    } catch {
      return true
    }
  }
  fc.assert(
    fc.property(policies, (policy) => {
      const lower = lowered(policy, ceiling)
      expect(underCeiling(lower, ceiling)).toEqual(lower)
      if (!isRefused(policy)) expect(lower).toEqual(underCeiling(policy, ceiling))
    }),
  )
})
