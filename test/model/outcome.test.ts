import { describe, expect, it } from 'vitest'
import { type Cause, decide, type Evidence, exitCodeOf, FACES, Outcome } from '../../src/model/index.ts'

const CAUSES: readonly Cause[] = ['exit', 'interrupt', 'timeout', 'max_steps', 'max_budget', 'drain', 'lost']
const EVIDENCE: readonly Evidence[] = [
  'success',
  'aborted',
  'refusal',
  'max_steps',
  'max_budget',
  'error',
  'none',
]
const EXITS = [undefined, 0, 1, 143] as const
/** All refusals, and those of them that a person made. */
const DENIALS = [
  [0, 0],
  [1, 0],
  [1, 1],
  [3, 2],
] as const

type Row = readonly [
  cause: readonly Cause[],
  evidence: readonly Evidence[],
  exit: 'any' | 'well' | 'badly',
  denied: boolean | 'any',
  outcome: Outcome,
]

/** The rule as a table: the first row that matches decides. */
const ROWS: readonly Row[] = [
  [['lost'], EVIDENCE, 'any', 'any', 'lost'],
  // The agent had finished before our cancel took effect: the interrupt came too late.
  [['interrupt', 'drain', 'timeout', 'max_steps', 'max_budget'], ['success'], 'any', true, 'denied'],
  [['interrupt', 'drain', 'timeout', 'max_steps', 'max_budget'], ['success'], 'any', false, 'completed'],
  [['timeout'], EVIDENCE, 'any', 'any', 'timeout'],
  [['max_steps'], EVIDENCE, 'any', 'any', 'max_steps'],
  [['max_budget'], EVIDENCE, 'any', 'any', 'max_budget'],
  [['interrupt', 'drain'], EVIDENCE, 'any', 'any', 'interrupted'],
  [['exit'], ['aborted'], 'any', 'any', 'interrupted'],
  [['exit'], ['max_steps'], 'any', 'any', 'max_steps'],
  [['exit'], ['max_budget'], 'any', 'any', 'max_budget'],
  [['exit'], ['refusal'], 'any', 'any', 'refused'],
  [['exit'], ['error'], 'any', 'any', 'failed'],
  [['exit'], ['success'], 'well', true, 'denied'],
  [['exit'], ['success'], 'well', false, 'completed'],
  [['exit'], ['success'], 'badly', 'any', 'failed'],
  [['exit'], ['none'], 'any', 'any', 'crashed'],
]

const cases = CAUSES.flatMap((cause) =>
  EVIDENCE.flatMap((evidence) =>
    EXITS.flatMap((exit) =>
      DENIALS.map(([denials, personDenials]) => ({ cause, evidence, exit, denials, personDenials })),
    ),
  ),
)

function rowOf({ cause, evidence, exit, denials, personDenials }: (typeof cases)[number]): Row | undefined {
  const ended = exit === undefined || exit === 0 ? 'well' : 'badly'
  const denied = denials > personDenials
  return ROWS.find(
    ([causes, evidences, exits, denies]) =>
      causes.includes(cause) &&
      evidences.includes(evidence) &&
      (exits === 'any' || exits === ended) &&
      (denies === 'any' || denies === denied),
  )
}

describe('decide', () => {
  it('follows the table in every combination of cause, evidence, exit and refusals', () => {
    const used = new Set<Row>()
    for (const given of cases) {
      const row = rowOf(given)
      if (row) used.add(row)
      expect(decide(given, given.cause, given.exit), JSON.stringify(given)).toBe(row?.[4])
    }
    expect(cases).toHaveLength(784)
    expect(used.size).toBe(ROWS.length)
  })

  it('never says completed without a success of the agent', () => {
    const completed = cases.filter((given) => decide(given, given.cause, given.exit) === 'completed')
    expect(completed.length).toBeGreaterThan(0)
    expect(completed.every(({ evidence }) => evidence === 'success')).toBe(true)
  })
})

/** exit code (undefined: the child's own if it is not 0, else 1), ues, daemon, board, unified. */
const READS: Record<Outcome, readonly [number | undefined, string, string, string, string]> = {
  completed: [0, 'success', 'result', 'done', 'completed'],
  denied: [5, 'error', 'result', 'failed', 'failed'],
  refused: [1, 'error', 'error', 'failed', 'failed'],
  max_steps: [3, 'max_turns', 'error', 'failed', 'failed'],
  max_budget: [3, 'max_budget', 'error', 'failed', 'failed'],
  timeout: [3, 'error', 'error', 'failed', 'timeout'],
  interrupted: [130, 'interrupted', 'interrupted', 'cancelled', 'cancelled'],
  failed: [undefined, 'error', 'error', 'failed', 'failed'],
  crashed: [undefined, 'error', 'error', 'failed', 'failed'],
  lost: [1, 'error', 'error', 'failed', 'failed'],
}

describe.each(Object.entries(READS))('the outcome %s', (name, [exitCode, ues, daemon, board, unified]) => {
  const outcome = Outcome.parse(name)

  it('reads on every face as the table says', () => {
    expect(FACES[outcome]).toEqual({ exitCode, ues, daemon, board, unified })
  })

  it('has the exit code of the table, whatever the child answered', () => {
    for (const exit of [undefined, {}, { code: 0 }, { code: 42 }, { signal: 'SIGKILL' }]) {
      const child = exit && 'code' in exit && exit.code !== 0 ? exit.code : 1
      expect(exitCodeOf(outcome, exit), JSON.stringify(exit)).toBe(exitCode ?? child)
    }
  })
})

it('every outcome is in the table, and only completed exits with 0', () => {
  expect([...Outcome.options].sort()).toEqual(Object.keys(READS).sort())
  expect(Outcome.options.filter((outcome) => exitCodeOf(outcome, { code: 0 }) === 0)).toEqual(['completed'])
})

it.each([
  ['interrupt', 'interrupted'],
  ['drain', 'interrupted'],
  ['timeout', 'timeout'],
  ['exit', 'completed'],
] as const)('a success whose work was stopped by %s is %s', (cause, outcome) => {
  expect(decide({ evidence: 'success', denials: 0, personDenials: 0, cut: true }, cause)).toBe(outcome)
})
