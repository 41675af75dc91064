import { describe, expect, test } from 'vitest'
import type { RequestOpened } from '../../../src/model/events/request.ts'
import { Approval, type Policy, ToolKind } from '../../../src/model/index.ts'
import { answerFor, isForHook } from '../../../src/sessions/turns/approval.ts'

const request = (more: Partial<RequestOpened> = {}): RequestOpened => ({
  type: 'request.opened',
  requestId: 'r',
  kind: 'permission',
  blocking: true,
  inputDigest: '',
  options: [],
  ...more,
})
const isInside = (path: string) => path.startsWith('/in/')
const decide = (policy: Partial<Policy>, asked: RequestOpened, attended = true, hooked = false) => {
  const whole: Policy = { approval: 'ask', sandbox: 'none', ...policy }
  const given = { policy: whole, hooked, attended, isInside }
  return answerFor(asked, given)?.decision ?? (isForHook(asked, given) ? 'hook' : 'ask')
}

const INSIDE = [{ path: '/in/a' }]
const OUTSIDE = [{ path: '/in/a' }, { path: '/out/b' }]

/** By approval: what is allowed anywhere, and what is allowed inside the workspace only. */
const TABLE: Record<Approval, { anywhere: ToolKind[]; inside: ToolKind[] }> = {
  ask: { anywhere: [], inside: [] },
  'ask-dangerous': { anywhere: ['read', 'search', 'think'], inside: ['edit'] },
  'auto-edit': { anywhere: ['read', 'search', 'think'], inside: ['edit', 'delete', 'move'] },
  'auto-all': { anywhere: [...ToolKind.options], inside: [...ToolKind.options] },
}

describe.each(Approval.options)('%s', (approval) => {
  test.each(ToolKind.options)('%s', (toolKind) => {
    const { anywhere, inside } = TABLE[approval]
    const free = anywhere.includes(toolKind)
    expect(decide({ approval }, request({ toolKind }))).toBe(free ? 'allow' : 'ask')
    expect(decide({ approval }, request({ toolKind, locations: OUTSIDE }))).toBe(free ? 'allow' : 'ask')
    const within = free || inside.includes(toolKind)
    expect(decide({ approval }, request({ toolKind, locations: INSIDE }))).toBe(within ? 'allow' : 'ask')
    expect(decide({ approval }, request({ toolKind, locations: OUTSIDE }), false)).toBe(
      free ? 'allow' : 'deny',
    )
  })

  test('never answers a question, and denies it if no person can answer', () => {
    expect(decide({ approval }, request({ kind: 'question' }))).toBe('ask')
    expect(decide({ approval }, request({ kind: 'question' }), false)).toBe('deny')
  })

  test('never approves a plan in a read-only session', () => {
    expect(decide({ approval, sandbox: 'read-only' }, request({ kind: 'plan' }))).toBe('deny')
  })
})

test.each(ToolKind.options)('the policy approves no %s in a read-only session', (toolKind) => {
  const harmless = ['read', 'search', 'think'].includes(toolKind)
  const asked = request({ toolKind, locations: INSIDE })
  expect(decide({ approval: 'auto-all', sandbox: 'read-only' }, asked)).toBe(harmless ? 'allow' : 'ask')
  expect(decide({ approval: 'auto-all', sandbox: 'read-only' }, asked, false)).toBe(
    harmless ? 'allow' : 'deny',
  )
})

test('more than once is allowed only where everything is', () => {
  const always = { id: 'a', label: 'Always', effect: 'allow', scope: 'always' } as const
  const session = { id: 's', label: 'Session', effect: 'allow', scope: 'session' } as const
  const asked = request({ toolKind: 'read', options: [always, session] })
  expect(decide({ approval: 'auto-edit' }, asked)).toBe('ask')
  expect(decide({ approval: 'auto-edit' }, asked, false)).toBe('deny')
  const policy: Policy = { approval: 'auto-all', sandbox: 'none' }
  expect(answerFor(asked, { policy, attended: true, isInside })).toMatchObject({
    decision: 'allow',
    scope: 'session',
  })
})

test('a call of unknown kind is a person’s to decide', () => {
  expect(decide({ approval: 'auto-edit' }, request({ locations: INSIDE }))).toBe('ask')
})

test('a tool named as approved runs without asking, one named as denied never', () => {
  const bash = request({ tool: 'Bash', toolKind: 'execute' })
  expect(decide({ tools: { preapproved: ['Bash'] } }, bash)).toBe('allow')
  expect(decide({ tools: { preapproved: ['Bash'], denied: ['Bash'] } }, bash)).toBe('deny')
  expect(decide({ approval: 'auto-all', tools: { denied: ['Bash'] } }, bash)).toBe('deny')
})

describe('with a hook', () => {
  const hooked = (policy: Partial<Policy>, asked: RequestOpened, attended = true) =>
    decide(policy, asked, attended, true)

  test.each(Approval.options)(
    '%s leaves every permission to it, also if no person can answer',
    (approval) => {
      for (const toolKind of ToolKind.options) {
        expect(hooked({ approval }, request({ toolKind }))).toBe('hook')
        expect(hooked({ approval }, request({ toolKind }), false)).toBe('hook')
      }
    },
  )

  test('a denied tool stays denied', () => {
    expect(hooked({ tools: { denied: ['Bash'] } }, request({ tool: 'Bash' }))).toBe('deny')
  })

  test.each(ToolKind.options)('it approves no %s in a read-only session', (toolKind) => {
    const harmless = ['read', 'search', 'think'].includes(toolKind)
    expect(hooked({ sandbox: 'read-only' }, request({ toolKind }))).toBe(harmless ? 'hook' : 'deny')
  })

  test('questions and plans are not its to decide', () => {
    expect(hooked({}, request({ kind: 'question' }))).toBe('ask')
    expect(hooked({}, request({ kind: 'plan' }))).toBe('ask')
    expect(hooked({}, request({ kind: 'plan' }), false)).toBe('deny')
  })
})

describe('a tool that tools.available leaves out, of an agent that cannot remove it', () => {
  const policy: Policy = { approval: 'auto-all', sandbox: 'none', tools: { available: ['execute'] } }
  const context = { policy, attended: true, isInside, deniesUnlisted: true } as const
  const patch = request({ tool: 'apply_patch', toolKind: 'edit' })

  test('is denied, whatever the approval', () => {
    expect(answerFor(patch, context)).toMatchObject({
      decision: 'deny',
      message: 'the policy does not offer apply_patch',
      by: 'policy',
    })
  })

  test.each([
    ['a listed tool', request({ tool: 'shell', toolKind: 'execute' }), context],
    ['a permission beside a listed call', request({ tool: 'x', permission: 'network' }), context],
    ['an agent that removes its tools', patch, { policy, attended: true, isInside }],
    ['a policy without a list', patch, { ...context, policy: { ...policy, tools: {} } }],
  ])('but not %s', (_, asked, given) => {
    expect(answerFor(asked, given)?.decision).toBe('allow')
  })
})
