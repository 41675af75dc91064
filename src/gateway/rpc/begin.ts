import type { Actor } from '../../model/access.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import { MainstemError, type SessionRecord, toMainstemError } from '../../model/index.ts'
import { isForPerson } from '../../model/request/for-person.ts'
import type { SessionHandle } from '../../sessions/session-handle.ts'
import { isDelivered } from '../../sessions/turns/delivery.ts'
import { ownedSession } from '../access/session-access.ts'
import { latestFirst } from '../streams/latest-first.ts'
import { ready } from '../v1/commands.ts'
import { answerIn, isPlainAnswer } from './answers.ts'
import type { Rpc } from './method.ts'

/** A started exchange: its turn, and the last entry before it. */
export interface StartedExchange {
  session: SessionHandle
  turn: number
  after: number
  /** The first retained entry. */
  earliest: number
}

/** Treats a message as the answer to the agent's last question, otherwise as a prompt, which may be queued. */
export async function begin(rpc: Rpc, actor: Actor, id: string, message: string): Promise<StartedExchange> {
  const { deps, clients } = rpc
  const { principal } = actor
  const session = await ready(deps, principal, id)
  await clients.deliveriesRecorded(id)
  const record = await ownedSession(deps, principal, id)
  const { head, earliest = 1 } = record
  const { open, settled } = await questionsIn(rpc, record)
  if (open) {
    // A client must not answer a question it was not shown.
    if (!clients.hasSeen(id, open.seq)) {
      throw new MainstemError(
        'conflict',
        'the agent asked a question that this client has not seen; call session.reconnect to read it',
      )
    }
    await answer(session, message, open.request, actor)
    return { session, turn: open.turn, after: open.seq, earliest }
  }
  // The second client with a plain answer meant the question; the agent must not receive it as a prompt.
  if (settled && clients.hasSeen(id, settled.seq) && isPlainAnswer(message, settled.request)) throw tooLate()
  const turn = await session.prompt(message, [], { actor })
  deps.cluster.track(session, turn)
  return { session, turn, after: head, earliest }
}

interface WaitingQuestion {
  seq: number
  turn: number
  request: RequestOpened
}

/**
 * Returns the oldest open and the newest settled question of the last turn. Once a client was shown the end of that
 * turn, a message refers to the next one.
 */
async function questionsIn(
  { deps: { sessions }, clients }: Rpc,
  record: SessionRecord,
): Promise<{ open?: WaitingQuestion; settled?: WaitingQuestion }> {
  const { id, openTurn, turns, requests } = record
  const last = openTurn ?? turns
  const asked: { open?: WaitingQuestion; settled?: WaitingQuestion } = {}
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

async function answer(
  session: SessionHandle,
  message: string,
  request: RequestOpened,
  actor: Actor,
): Promise<void> {
  try {
    await session.answer({ ...answerIn(message, request), inputDigest: request.inputDigest }, { actor })
  } catch (thrown) {
    // The request was open just before, so another client answered first.
    if (toMainstemError(thrown).code !== 'request_not_found') throw thrown
    throw tooLate()
  }
}

function tooLate(): MainstemError {
  return new MainstemError('conflict', 'the question is no longer open')
}
