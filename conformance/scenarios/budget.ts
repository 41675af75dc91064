import type { Policy } from '../../src/index.ts'
import type { Scenario } from '../scenario.ts'
import { must, type Stage } from '../stage.ts'
import { completes } from './text.ts'

const FREE = { approval: 'auto-all', sandbox: 'full-access' } as const satisfies Policy

/** The cost of one turn of this script without a limit. */
async function costOf(stage: Stage, script: string, answer: string): Promise<number> {
  const turn = await stage.turn(await stage.session(), script)
  completes(turn, answer)
  const { usage } = turn
  must(usage?.costUsd !== undefined, `no cost in ${JSON.stringify(usage)}`)
  return usage.costUsd
}

export const BUDGET: readonly Scenario[] = [
  {
    id: 'budget',
    title: 'Limit on cost',
    effect: 'the number of model calls',
    async play(stage) {
      const maxBudgetUsd = (await costOf(stage, 'spends', 'All is spent.')) / 2
      const before = stage.model.requests.length
      const session = await stage.session({ policy: { ...FREE, maxBudgetUsd } })
      const { outcome, usage } = await stage.turn(session, 'spends')
      must(outcome === 'max_budget', `the outcome is ${outcome}`)
      must((usage?.costUsd ?? 0) > maxBudgetUsd, `it ended with ${usage?.costUsd} of ${maxBudgetUsd}`)
      const calls = stage.model.requests.slice(before).filter(({ place }) => place !== undefined).length
      // The third of five equal calls exceeds it; the next one may be under way by then.
      must(calls === 3 || calls === 4, `it made ${calls} model calls`)
    },
  },
  {
    id: 'budget-per-turn',
    title: 'A new budget for each turn',
    effect: 'three turns within one budget each',
    async play(stage) {
      const maxBudgetUsd = (await costOf(stage, 'counted', 'It is counted.')) * 1.5
      const session = await stage.session({ policy: { ...FREE, maxBudgetUsd } })
      for (const _ of ['first', 'second', 'third']) {
        completes(await stage.turn(session, 'counted'), 'It is counted.')
      }
    },
  },
]
