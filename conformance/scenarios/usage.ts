import type { Usage } from '../../src/index.ts'
import type { RecordedRequest } from '../../src/testing/index.ts'
import type { Scenario } from '../scenario.ts'
import { eventsOf, type FinishedTurn, must, type Stage } from '../stage.ts'
import { type Counts, modelOf, mustEqualUsage, mustNotContradict, usageOf } from '../usage.ts'
import { completes } from './text.ts'

/** Plays a script twice in one session: a running total would make the second turn too large. */
async function playTwice(
  stage: Stage,
  script: string,
  check: (turn: FinishedTurn, expected: Counts) => void,
): Promise<void> {
  const session = await stage.session()
  let counted = 0
  for (const _ of ['first', 'second']) {
    const before = stage.model.requests.length
    const turn = await stage.turn(session, script)
    completes(turn, 'It is counted.')
    const requests = stage.model.requests.slice(before).filter(isScripted)
    must(requests.length === 2, `the turn made ${requests.length} model calls`)
    const beside = besides(stage, turn, requests, counted)
    counted += beside.length
    check(turn, usageOf([...requests, ...beside]))
    mustNameModels(turn, requests.map(modelOf))
  }
}

const isScripted = ({ place }: RecordedRequest) => place !== undefined

/**
 * The calls beside the conversation that the usage of a turn includes, for a program that counts them: the number that
 * explains the total, of those made so far and not counted yet. One runs beside the turn, and may end after it.
 */
function besides(
  { program, model }: Stage,
  { usage }: FinishedTurn,
  requests: readonly RecordedRequest[],
  counted = 0,
): readonly RecordedRequest[] {
  if (!program.countsSideCalls) return []
  const calls = model.requests.filter((one) => !isScripted(one) && one.usage !== undefined).slice(counted)
  const sums = [...calls.keys(), calls.length].map((count) => calls.slice(0, count))
  return sums.find((beside) => usageOf([...requests, ...beside]).total === usage?.total) ?? []
}

/** Model names that usage reports carry are those of the requests. */
function mustNameModels({ events }: FinishedTurn, asked: readonly string[]): void {
  const named = eventsOf(events, 'usage.reported').flatMap(({ model }) => model ?? [])
  // Some programs name the provider as well.
  const wrong = named.filter((name) => !asked.some((one) => name === one || name.endsWith(`/${one}`)))
  must(wrong.length === 0, `usage names the model ${wrong[0]}, and ${asked[0]} was asked`)
}

/** The steps of a turn, where they are reported, add up to its usage. */
function mustMatchSteps({ events }: FinishedTurn, expected: Counts): void {
  const steps = eventsOf(events, 'usage.reported').filter(({ scope }) => scope === 'step')
  if (steps.length > 0) mustSumUp('the steps', steps, expected)
}

function mustSumUp(what: string, reports: readonly Usage[], expected: Counts): void {
  for (const count of ['input', 'output', 'total'] as const) {
    const sum = reports.reduce((total, report) => total + (report[count] ?? 0), 0)
    must(sum === expected[count], `${count} of ${what} is ${sum} and the model reported ${expected[count]}`)
  }
}

/** The usage of a sub-agent, where it is reported, is that of its model calls. */
function mustMatchInner({ events }: FinishedTurn, inner: Counts): void {
  const [ended] = eventsOf(events, 'subagent.completed')
  if (ended?.usage) mustNotContradict('usage of the sub-agent', ended.usage, inner)
  const reports = eventsOf(events, 'usage.reported').filter(({ scope }) => scope === 'subagent')
  if (reports.length > 0) mustSumUp('the sub-agent', reports, inner)
}

export const USAGE: readonly Scenario[] = [
  {
    id: 'usage',
    title: 'Exact token usage',
    effect: 'the counts of the model, in two turns',
    inShort: 'Exact token usage',
    capability: 'usage',
    inCi: true,
    async play(stage) {
      await playTwice(stage, 'counted', (turn, expected) => {
        mustEqualUsage('usage', turn.usage, expected)
        mustMatchSteps(turn, expected)
      })
    },
  },
  {
    id: 'usage-details',
    title: 'Cached and reasoning tokens',
    effect: 'the counts of the model, in two turns',
    async play(stage) {
      await playTwice(stage, 'counted-details', (turn, expected) => {
        mustEqualUsage('usage', turn.usage, expected)
      })
    },
  },
  {
    id: 'cost',
    title: 'Exact cost',
    effect: 'the price of the counts, in two turns',
    inShort: 'Cost',
    capability: 'cost',
    async play(stage) {
      await playTwice(stage, 'counted-details', ({ usage }, expected) => {
        must(usage?.costUsd !== undefined, `no cost in ${JSON.stringify(usage)}`)
        mustEqualUsage('cost', usage, expected, ['costUsd'])
      })
    },
  },
  {
    id: 'subagent-usage',
    title: 'Usage includes sub-agents',
    effect: 'the counts of all calls of the model',
    async play(stage) {
      const turn = await stage.turn(await stage.session(), 'delegates')
      completes(turn, 'The sub-agent is done.')
      // A sub-agent in the background may end after the turn.
      const last = ({ place }: RecordedRequest) => place?.scenario === 'delegated' && place.reply === 1
      await stage.model.waitFor(last, stage.signal)
      const scripted = stage.model.requests.filter(isScripted)
      const inner = scripted.filter(({ place }) => place?.scenario === 'delegated')
      must(inner.length === 2, `the sub-agent made ${inner.length} model calls`)
      const expected = usageOf([...scripted, ...besides(stage, turn, scripted)])
      mustEqualUsage('usage', turn.usage, expected)
      if (turn.usage?.costUsd !== undefined) mustEqualUsage('cost', turn.usage, expected, ['costUsd'])
      mustMatchInner(turn, usageOf(inner))
    },
  },
]
