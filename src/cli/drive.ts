import type { Wired } from '../compose/wire.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import { type AnswerCommand, type BoundAnswer, type Entry, toMainstemError } from '../model/index.ts'

type Sessions = Wired['sessions']
type Session = Awaited<ReturnType<Sessions['create']>>

/** Answers a request; undefined if the person cancelled, or if the signal fires because the request was closed. */
export type Answerer = (request: RequestOpened, signal: AbortSignal) => Promise<AnswerCommand | undefined>

export interface Drive {
  request: Parameters<Sessions['create']>[0]
  prompt: string
  /** Shows an entry. The next entry is read after this settles. */
  show(entry: Entry): Promise<void>
  /** Absent if no person can answer. */
  answer?: Answerer | undefined
  /** Interrupts the turn. The rest of the session is still shown. */
  stop: AbortSignal
}

/** Runs one prompt in a new session, from its first entry to its last. */
export async function drive(
  sessions: Sessions,
  { request, prompt, show, answer, stop }: Drive,
): Promise<TurnCompleted> {
  const session = await sessions.create({ ...request, attended: answer !== undefined })
  const turn = await session.prompt(prompt)
  const settled = session.settled(turn)
  const reading = new AbortController()
  // If storage failed, the log has no end to wait for.
  settled.catch(() => reading.abort())
  const interrupt = () => session.interrupt().catch(() => reading.abort())
  if (stop.aborted) void interrupt()
  else stop.addEventListener('abort', interrupt, { once: true })
  for await (const entries of sessions.follow(session.id, 0, reading.signal)) {
    for (const entry of entries) {
      await show(entry)
      const { event } = entry
      if (event.type === 'request.opened' && answer) await ask(sessions, session, entry.seq, event, answer)
      else if (event.type === 'turn.completed' && event.turn === turn) await session.end()
    }
  }
  return settled
}

/** Output pauses during a prompt, so a second reader watches whether the request is still open. */
async function ask(
  sessions: Sessions,
  session: Session,
  seq: number,
  request: RequestOpened,
  answer: Answerer,
): Promise<void> {
  const over = new AbortController()
  const answered = new AbortController()
  const watching = (async () => {
    for await (const entries of sessions.follow(session.id, seq, answered.signal)) {
      if (entries.some((entry) => closes(entry, request.requestId))) return over.abort()
    }
  })()
  try {
    const given = await answer(request, over.signal)
    if (over.signal.aborted) return
    if (given) await submit(session, { ...given, inputDigest: request.inputDigest })
    else await session.interrupt()
  } finally {
    answered.abort()
    await watching
  }
}

function closes({ event }: Entry, requestId: string): boolean {
  if (event.type === 'turn.completed') return true
  const over = event.type === 'request.withdrawn' || event.type === 'request.resolved'
  return over && event.requestId === requestId
}

/** Ignores an answer that came too late: the request was answered, withdrawn or replaced, and the log shows it. */
async function submit(session: Session, answer: BoundAnswer): Promise<void> {
  try {
    await session.answer(answer)
  } catch (thrown) {
    const { code } = toMainstemError(thrown)
    if (code !== 'request_not_found' && code !== 'conflict') throw thrown
  }
}
