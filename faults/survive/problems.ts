import type { NoticeCode } from '../../src/model/events/report.ts'
import type { Entry } from '../../src/model/index.ts'
import type { Reader } from '../crash/reader.ts'
import type { Ending } from './plan.ts'

/** The end of the first prompt. */
export const PROMPT = 'Please do what the script says.'
/** Part of the prompt that Mainstem writes. */
const CONTINUED = 'its process went away'

/** What a cell left behind. */
export interface Evidence {
  readonly ending: Ending
  readonly entries: readonly Entry[]
  /** The processes of the agent before the server went away, after that, and at the end. */
  readonly processes: readonly [number[], number[], number[]]
  readonly readers: readonly Pick<Reader, 'name' | 'shown' | 'repeated'>[]
  /** All that the model said. */
  readonly text: string
  /** The requests to the model. */
  readonly asked: readonly string[]
  readonly file: { readonly wanted: string | undefined; readonly found: string | undefined }
}

/** Every way in which a cell broke a promise. */
export function problemsOf(evidence: Evidence): string[] {
  const { entries } = evidence
  const seqs = entries.map(({ seq }) => seq).join()
  return [
    ...(seqs === entries.map((_, index) => index + 1).join() ? [] : ['the log has a gap']),
    ...evidence.readers.flatMap(({ name, shown, repeated }) => [
      ...([...shown.keys()].join() === seqs ? [] : [`the reader ${name} has a gap`]),
      ...(repeated === 0 ? [] : [`the reader ${name} got ${repeated} messages twice`]),
    ]),
    ...(evidence.ending === 'reboot' ? lostProblems(evidence) : liveProblems(evidence)),
  ]
}

/** The agent lived: its turn is whole. */
function liveProblems({ entries, processes: [before, after, atEnd], text, file }: Evidence): string[] {
  const requests = entries.filter(({ event }) => event.type === 'request.opened')
  return [
    ...differs('the outcome', outcomesOf(entries).join(), 'completed'),
    ...differs('the text', textOf(entries), text),
    ...differs('the file', file.found, file.wanted),
    ...(requests.length > 1 ? [`it asked ${requests.length} times`] : []),
    ...differs('the number of agents', before.length, 1),
    ...differs('the agent after the start', after.join(), before.join()),
    ...differs('the agent at the end', atEnd.join(), before.join()),
    ...differs('the number of notices', noticesOf(entries, 'reattached'), 1),
  ]
}

/** The agent was killed: its turn is lost, and another one goes on in the same conversation. */
function lostProblems({ entries, asked }: Evidence): string[] {
  const isReported = noticesOf(entries, 'context_lost') > 0
  const continued = asked.findLast((body) => body.includes(CONTINUED))
  return [
    ...differs('the outcomes', outcomesOf(entries).join(), 'lost,completed'),
    ...(continued?.includes(PROMPT) || isReported ? [] : ['the first prompt is lost without a notice']),
  ]
}

function differs(what: string, found: unknown, wanted: unknown): string[] {
  return found === wanted ? [] : [`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`]
}

function noticesOf(entries: readonly Entry[], code: NoticeCode): number {
  return entries.filter(({ event }) => event.type === 'notice.raised' && event.code === code).length
}

function outcomesOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ event }) => (event.type === 'turn.completed' ? event.outcome : []))
}

/** The text of the model in the log. */
export function textOf(entries: readonly Entry[]): string {
  return entries.flatMap(({ event }) => (event.type === 'text.delta' ? event.text : [])).join('')
}
