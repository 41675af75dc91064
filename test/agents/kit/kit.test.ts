import { describe, expect, it } from 'vitest'
import type { Exit, Start, TurnVerdict } from '../../../src/agents/agent.ts'
import { Calls } from '../../../src/agents/kit/calls.ts'
import { type KnownFacts, updateSession } from '../../../src/agents/kit/known.ts'
import { newLedger } from '../../../src/agents/kit/ledger.ts'
import {
  askByNativeId,
  askOf,
  closeRequest,
  nextRequestId,
  openRequest,
} from '../../../src/agents/kit/requests.ts'
import { ruleTable } from '../../../src/agents/kit/rules.ts'
import { settleTurn } from '../../../src/agents/kit/settle.ts'
import { refuseTool, startTool } from '../../../src/agents/kit/tools.ts'

const START: Start = {
  launch: 'live',
  cwd: '/project',
  policy: { approval: 'ask', sandbox: 'none' },
  options: {},
  epoch: 2,
}

describe('the properties of a session', () => {
  it('are emitted when they change, whatever the order of their fields', () => {
    const state: { known: KnownFacts } = { known: {} }
    const models = [{ id: 'a', name: 'A' }]
    expect(updateSession(state, { model: 'a', models, title: undefined })).toEqual([
      { type: 'session.updated', model: 'a', models },
    ])
    expect(updateSession(state, { model: 'a', models: [{ name: 'A', id: 'a' }] })).toEqual([])
    expect(updateSession(state, { model: 'b', models })).toEqual([{ type: 'session.updated', model: 'b' }])
    expect(state.known).toEqual({ model: 'b', models })
  })
})

describe('our calls', () => {
  it('are pending until their response, which confirms an interrupt', () => {
    const calls = new Calls<string>()
    calls.add(calls.next(), 'initialize')
    calls.add(calls.next(), 'interrupt')
    calls.interrupt(2)
    expect(calls.isInterrupting).toBe(true)
    expect(calls.take(2)).toBe('interrupt')
    expect(calls.isInterrupting).toBe(false)
    expect(calls.take(2)).toBeUndefined()
    expect(calls.some((call) => call === 'initialize')).toBe(true)
  })

  it('are confirmed by a turn that ended as interrupted', () => {
    const calls = new Calls<string>()
    calls.interrupt(calls.next())
    calls.confirmInterrupts()
    expect(calls.isInterrupting).toBe(false)
  })
})

describe('the ask of a request', () => {
  const request = (requestId: string, title: string) => ({
    requestId,
    kind: 'permission' as const,
    blocking: true,
    title,
    options: [],
  })

  it('ends with its request, however that ends', () => {
    const ledger = newLedger<{ nativeId: number }>()
    openRequest(ledger, request('a', 'one'), { nativeId: 1 })
    openRequest(ledger, request('b', 'two'), { nativeId: 2 })
    expect(askByNativeId(ledger, 2)).toEqual(['b', { nativeId: 2 }])
    expect(closeRequest(ledger, 'a')).toEqual({ nativeId: 1 })
    expect(closeRequest(ledger, 'a')).toBeUndefined()
    settleTurn(ledger, verdict(), 'agent')
    expect(askOf(ledger, 'b')).toBeUndefined()
  })

  it('has a new id if the agent reuses that of an answered request, and the same while it is open', () => {
    const ledger = newLedger<{ nativeId: number }>()
    const ids = [nextRequestId(ledger, START, 0)]
    openRequest(ledger, request(ids[0] ?? '', 'one'), { nativeId: 0 })
    ids.push(nextRequestId(ledger, START, 0))
    closeRequest(ledger, 'e2.0')
    ids.push(nextRequestId(ledger, START, 0))
    expect(ids).toEqual(['e2.0', 'e2.0', 'e2.0~2'])
  })
})

describe('the end of a turn', () => {
  it('counts denials that only settling finds, and reports usage before the verdict', () => {
    const ledger = newLedger()
    startTool(ledger, { toolId: 't', name: 'Bash', kind: 'execute' })
    refuseTool(ledger, 't', 'person')
    const emitted = settleTurn(ledger, { ...verdict(), usage: { input: 1 } }, 'computed')
    expect(emitted.map(({ type }) => type)).toEqual(['tool.completed', 'usage.reported', 'turn.verdict'])
    expect(emitted.at(-1)).toMatchObject({ denials: 1, personDenials: 1 })
  })

  it('is no success for a call that runs when a signal kills the process', () => {
    const ledger = newLedger()
    startTool(ledger, { toolId: 't', name: 'Bash', kind: 'execute' })
    const killed: Exit = { signal: 'SIGKILL', cause: 'exit' }
    expect(settleTurn(ledger, verdict(), 'agent', killed)[0]).toMatchObject({ status: 'error' })
  })
})

describe('a rule', () => {
  it('is found by its own type, and never by an inherited name', () => {
    const ruleOf = ruleTable({ say: 1 })
    expect([ruleOf('say'), ruleOf('constructor'), ruleOf('__proto__'), ruleOf(undefined)]).toEqual([
      1,
      undefined,
      undefined,
      undefined,
    ])
  })
})

function verdict(): TurnVerdict {
  return { type: 'turn.verdict', evidence: 'success', denials: 0, personDenials: 0 }
}
