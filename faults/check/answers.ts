import type { AgentHistory } from '../fakes/history.ts'
import { agentLogs, type Evidence, type SentAnswer } from './evidence.ts'
import type { Findings } from './findings.ts'
import { isWhole, type LoggedTurn, turnsOf } from './turns.ts'

/** A permission request in the log. */
interface LoggedRequest {
  session: string
  requestId: string
  call: string
  turn: LoggedTurn | undefined
  decision: string | undefined
  by: string
}

/** The history of one call that the agent asked for. */
interface Heard {
  decisions: string[]
  ran: number
}

/**
 * An answer reaches the agent at most once, for the call that it was given for. An allowed call ran, or its turn did
 * not end well; a denied or unanswered one did not run; and only a client allows.
 */
export function checkAnswers(evidence: Evidence, found: Findings): void {
  const heard = heardBy(evidence.histories)
  const requests = new Map<string, LoggedRequest>()
  for (const request of requestsOf(evidence)) requests.set(request.call, request)
  for (const [call, { decisions, ran }] of heard) {
    const logged = requests.get(call)?.decision
    if (decisions.length > 1)
      found.add('answer', `${call} was answered ${decisions.length} times: ${decisions.join(', ')}`)
    if (decisions.includes('allow') && logged !== 'allow')
      found.add('answer', `the agent received "allow" for ${call}; the log has ${logged ?? 'no decision'}`)
    if (ran > 0 && logged !== 'allow')
      found.add('answer', `${call} ran; the log has ${logged ?? 'no decision'}`)
    if (ran > 1) found.add('answer', `${call} ran ${ran} times`)
  }
  for (const request of requests.values()) {
    const sent = evidence.clients.answers.filter(
      ({ session, requestId }) => session === request.session && requestId === request.requestId,
    )
    checkDecision(request, sent, heard.get(request.call), found)
  }
}

function heardBy(histories: readonly AgentHistory[]): Map<string, Heard> {
  const heard = new Map<string, Heard>()
  for (const note of histories.flatMap(({ notes }) => notes)) {
    if (note.type !== 'asked' && note.type !== 'answered' && note.type !== 'ran') continue
    const call = heard.get(note.call) ?? { decisions: [], ran: 0 }
    if (note.type === 'answered') call.decisions.push(note.decision)
    if (note.type === 'ran') call.ran++
    heard.set(note.call, call)
  }
  return heard
}

function* requestsOf(evidence: Evidence): Generator<LoggedRequest> {
  for (const [session, entries] of agentLogs(evidence)) {
    const turns = turnsOf(entries)
    const open = new Map<string, LoggedRequest>()
    for (const { event, turn = 0 } of entries) {
      if (event.type === 'request.opened') {
        const [call = ''] = /\bp\d+#\d+/.exec(JSON.stringify([event.input, event.title])) ?? []
        const { requestId } = event
        open.set(requestId, { session, requestId, call, turn: turns.get(turn), decision: undefined, by: '' })
      } else if (event.type === 'request.resolved') {
        const request = open.get(event.requestId)
        if (request) Object.assign(request, { decision: event.decision, by: event.by })
      }
    }
    yield* open.values()
  }
}

function checkDecision(
  { call, decision, by, turn }: LoggedRequest,
  sent: readonly SentAnswer[],
  heard: Heard | undefined,
  found: Findings,
): void {
  const winners = sent.filter(({ status }) => status === 200)
  if (winners.length > 1)
    found.add('answer', `${winners.length} clients were told that they answered ${call}`)
  if (winners.some((winner) => winner.decision !== decision))
    found.add('answer', `a client was told that it decided ${call}; the log has ${decision ?? 'no decision'}`)
  if (decision === undefined) return
  // With no client to ask, the policy denies.
  const isPolicy = by === 'policy' && decision === 'deny'
  if (!isPolicy && !sent.some((one) => one.decision === decision))
    found.add('answer', `${call} has the decision "${decision}", which no client sent`)
  if (decision !== 'allow' || !turn || !isWhole(turn)) return
  if (heard?.ran !== 1) found.add('answer', `${call} was allowed and did not run; its turn ${turn.outcome}`)
}
