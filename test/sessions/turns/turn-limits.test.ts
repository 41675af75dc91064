import { describe, expect, test } from 'vitest'
import type { StepReports } from '../../../src/agents/agent.ts'
import type { Event, Policy } from '../../../src/model/index.ts'
import { TurnLimits } from '../../../src/sessions/turns/turn-limits.ts'

const step = (costUsd?: number): Event => ({
  type: 'usage.reported',
  scope: 'step',
  source: 'agent',
  ...(costUsd !== undefined && { costUsd }),
})
const ofChild = (costUsd: number): Event => ({
  type: 'usage.reported',
  scope: 'subagent',
  subagentId: 'a',
  costUsd,
  source: 'agent',
})
const starts = (toolId: string, parent?: string): Event => ({
  type: 'tool.started',
  toolId,
  name: 'Bash',
  kind: 'execute',
  ...(parent !== undefined && { parent }),
})
const ends = (toolId: string): Event => ({
  type: 'tool.completed',
  toolId,
  name: 'Bash',
  kind: 'execute',
  status: 'success',
})

/** What stops a turn, and after how many of these events. */
function stops(limits: Partial<Policy>, events: readonly Event[], reports?: StepReports) {
  const policy: Policy = { approval: 'auto-all', sandbox: 'none', ...limits }
  const turn = new TurnLimits(policy, reports)
  for (const [index, event] of events.entries()) {
    const cause = turn.observe(event)
    if (cause) return [cause, index + 1]
  }
  return undefined
}

describe('a limit of 2 model calls', () => {
  const limit = { maxSteps: 2 }
  const afterTools: StepReports = { reported: 'after_tools' }

  test('stops the second call when it asks for a tool, reported before the tool runs', () => {
    const turn = [step(), starts('a'), ends('a'), step(), starts('b'), ends('b'), step()]
    expect(stops(limit, turn)).toEqual(['max_steps', 5])
  })

  test('stops the second call when it is reported while its tool runs', () => {
    const turn = [starts('a'), step(), ends('a'), starts('b'), step(), ends('b'), step()]
    expect(stops(limit, turn)).toEqual(['max_steps', 5])
  })

  test('stops the second call when its tool begins, if it is reported only after the tool', () => {
    const turn = [starts('a'), ends('a'), step(), starts('b'), ends('b'), step(), step()]
    expect(stops(limit, turn, afterTools)).toEqual(['max_steps', 4])
  })

  test.each<[string, StepReports, Event[]]>([
    ['reported before its tools', {}, [step(), starts('a'), ends('a'), step()]],
    ['reported while its tools run', {}, [starts('a'), step(), ends('a'), step()]],
    ['reported after its tools', afterTools, [starts('a'), ends('a'), step(), step()]],
  ])('leaves a turn alone that ends by itself at the second call, %s', (_how, reports, turn) => {
    expect(stops(limit, turn, reports)).toBeUndefined()
  })

  test('leaves the tools of sub-agents uncounted', () => {
    const turn = [
      starts('a'),
      starts('b', 'a'),
      ends('b'),
      starts('c', 'a'),
      ends('c'),
      ends('a'),
      step(),
      step(),
    ]
    expect(stops(limit, turn, afterTools)).toBeUndefined()
  })

  test('is left to an agent that enforces it, and holds if the agent does not', () => {
    const native: StepReports = { limit: 'native' }
    const turn = [step(), starts('a'), ends('a'), step(), starts('b'), ends('b')]
    expect(stops(limit, turn, native)).toBeUndefined()
    expect(stops(limit, [...turn, step()], native)).toEqual(['max_steps', 7])
  })
})

describe('a budget of half the cost', () => {
  test('stops the turn at the call that exceeds it', () => {
    expect(stops({ maxBudgetUsd: 0.0002 }, [step(0.0001), step(0.0001), step(0.0001), step(0.0001)])).toEqual(
      ['max_budget', 3],
    )
  })

  test('counts what sub-agents cost', () => {
    const turn = [ofChild(0.000113), ofChild(0.000123), step(0.000113), step(0.000123)]
    expect(stops({ maxBudgetUsd: 0.000236 }, turn)).toEqual(['max_budget', 3])
  })

  test('does not count the total of the turn again', () => {
    const total: Event = { type: 'usage.reported', scope: 'turn', costUsd: 0.0001, source: 'computed' }
    expect(stops({ maxBudgetUsd: 0.00015 }, [step(0.0001), total])).toBeUndefined()
  })
})
