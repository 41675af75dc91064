import { isAskedHere } from '../../dialects/request-words.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import { MainstemError, type SessionRecord, toMainstemError } from '../../model/index.ts'
import { isDelivered } from '../../sessions/delivery.ts'
import type { Session } from '../../sessions/session.ts'
import { ownedSession } from '../access/session-access.ts'
import { latestFirst } from '../streams/latest-first.ts'
import { ready, trackTurn } from '../v1/commands.ts'
import { answerIn, isPlainAnswer } from './answers.ts'
import type { Rpc } from './method.ts'

/** An exchange that is under way: a turn, and the last entry before what belongs to it. */
export interface Begun {
  session: Session
  turn: number
  after: number
  /** The first entry that is kept. */
  earliest: number
}

/** A message is the answer to what the agent asked last; otherwise it is a prompt, which may have to wait. */
export async function begin(rpc: Rpc, principal: string, id: string, message: string): Promise<Begun> {
  const { deps, clients } = rpc
  const session = await ready(deps, principal, id)
  await clients.noted(id)
  const record = await ownedSession(deps, principal, id)
  const { head, earliest = 1 } = record
  const { open, settled } = await questionsIn(rpc, record)
  if (open) {
    // Nobody answers what they did not see.
    if (!clients.hasSeen(id, open.seq)) {
      throw new MainstemError('conflict', 'the agent has asked something; session.reconnect shows it')
    }
    await answer(session, message, open.request)
    return { session, turn: open.turn, after: open.seq, earliest }
  }
  // Whoever comes second with a plain answer meant the question, and the agent must not hear it as a prompt.
  if (settled && clients.hasSeen(id, settled.seq) && isPlainAnswer(message, settled.request)) throw tooLate()
  const turn = await session.prompt(message)
  trackTurn(deps, session, turn)
  return { session, turn, after: head, earliest }
}

interface Asked {
  seq: number
  turn: number
  request: RequestOpened
}

/**
 * Of what the last turn has asked a person: the oldest that it waits for, and the newest that was settled. Once
 * somebody was shown the end of that turn, a message is about what comes next.
 */
async function questionsIn(
  { deps: { sessions }, clients }: Rpc,
  record: SessionRecord,
): Promise<{ open?: Asked; settled?: Asked }> {
  const { id, openTurn, turns, requests } = record
  const last = openTurn ?? turns
  const asked: { open?: Asked; settled?: Asked } = {}
  const waiting = new Set(requests.map(({ requestId }) => requestId))
  for await (const { event, seq, turn } of latestFirst(sessions, record)) {
    if (turn !== last) continue
    if (event.type === 'turn.started') break
    const isSeen = isDelivered(record, { turn, seq }) || clients.hasSeen(id, seq)
    if (event.type === 'turn.completed' && isSeen) break
    if (event.type !== 'request.opened' || !isForPerson(event)) continue
    if (waiting.has(event.requestId)) asked.open = { seq, turn, request: event }
    else asked.settled ??= { seq, turn, request: event }
  }
  return asked
}

function isForPerson(request: RequestOpened): boolean {
  return request.blocking && isAskedHere(request)
}

async function answer(session: Session, message: string, request: RequestOpened): Promise<void> {
  try {
    await session.answer({ ...answerIn(message, request), inputDigest: request.inputDigest })
  } catch (thrown) {
    // It was open a moment ago, so somebody was faster.
    if (toMainstemError(thrown).code !== 'request_not_found') throw thrown
    throw tooLate()
  }
}

function tooLate(): MainstemError {
  return new MainstemError('conflict', 'the question is no longer open')
}
