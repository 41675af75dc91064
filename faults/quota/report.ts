import type { Entry } from '../../src/model/index.ts'
import type { RecordedRequest } from '../../src/testing/index.ts'
import { promptOf, TEXT } from './limited-model.ts'
import type { Case, CaseReport } from './plan.ts'

/** Part of each prompt that Mainstem writes. */
const CONTINUED = 'because a usage limit ended the last turn'

/** The second turn of each case, and its end. */
const SECOND: Readonly<Record<Case, { outcome: string; starts: number; notices: number }>> = {
  wait: { outcome: 'completed', starts: 2, notices: 0 },
  cap: { outcome: 'failed', starts: 2, notices: 1 },
  cancel: { outcome: 'interrupted', starts: 1, notices: 0 },
  'hand-over': { outcome: 'completed', starts: 2, notices: 0 },
}

/** Compares the log of a case and what its model was asked with what must be there. */
export function reportOf(
  name: Case,
  entries: readonly Entry[],
  requests: readonly RecordedRequest[],
  resetsAt: number,
): CaseReport {
  const wanted = SECOND[name]
  const outcomes = entries.flatMap(({ event }) => (event.type === 'turn.completed' ? event.outcome : []))
  const starts = entries.filter(({ event }) => event.type === 'turn.started')
  const notices = entries.filter(
    ({ event }) => event.type === 'notice.raised' && event.code === 'not_continued',
  )
  const text = entries.flatMap(({ event }) => (event.type === 'text.completed' ? event.text : [])).join('\n')
  const asked = requests.map(({ body }) => JSON.stringify(body))
  const isContinued = asked.some((body) => body.includes(CONTINUED) && body.includes(promptOf(name)))
  const handed = entries.filter(({ event }) => event.type === 'session.handed_over').length
  const second = starts[1]?.at
  const afterResetMs = second === undefined ? undefined : second - resetsAt
  const problems = [
    ...differs('the outcomes', outcomes.join(), `failed,${wanted.outcome}`),
    ...differs('the number of turns that started', starts.length, wanted.starts),
    ...differs('the number of notices', notices.length, wanted.notices),
    ...differs('the number of hand-overs', handed, name === 'hand-over' ? 1 : 0),
    ...differs('the text of the model', text.includes(TEXT), wanted.outcome === 'completed'),
    ...differs('a continuation with the conversation so far', isContinued, wanted.starts === 2),
    ...differs(
      'the log without gaps',
      entries.every(({ seq }, index) => seq === index + 1),
      true,
    ),
    ...(name !== 'hand-over' && afterResetMs !== undefined && afterResetMs < 0
      ? [`it continued ${-afterResetMs} ms before the reset`]
      : []),
  ]
  return { name, outcomes, problems, afterResetMs: name === 'hand-over' ? undefined : afterResetMs }
}

function differs(what: string, found: unknown, wanted: unknown): string[] {
  return found === wanted ? [] : [`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`]
}
