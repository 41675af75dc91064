import type { RequestOpened } from '../model/events/request.types.ts'
import type { TurnCompleted } from '../model/events/turn.types.ts'
import type { AnswerCommand, Entry } from '../model/index.ts'
import { MainstemError } from '../model/outcome/mainstem-error.ts'
import { isForPerson } from '../model/request/for-person.ts'
import { submitAnswer } from './submit-answer.ts'

/** A session as its reader uses it: one of this process, or one of a server. */
export interface AttendedSession {
  /** The entries after `after`, until the session ends or the signal fires. */
  entries(after: number, signal: AbortSignal): AsyncIterable<Entry>
  /** The requests that are open now. */
  openRequests(): Promise<readonly RequestOpened[]>
  answer(request: RequestOpened, answer: AnswerCommand): Promise<unknown>
}

export interface Asking {
  /** Fires when the request was closed. */
  signal: AbortSignal
  /** How many other requests wait now. */
  waiting(): number
  /** Why the answer before was refused, if the same request is asked again. */
  refused?: MainstemError
}

/** Asks a person. Undefined if the person gave no answer, or if the request was closed. An answer that is refused is asked for again. */
export type AskPerson = (request: RequestOpened, asking: Asking) => Promise<AnswerCommand | undefined>

export interface Attend {
  /** Entries up to this one are not shown. */
  after: number
  /** Shows an entry. The next entry is read after this settles. */
  show(entry: Entry): Promise<void>
  /** Absent if no person can answer here. */
  ask?: AskPerson | undefined
  /** Called when the person gives no answer: interrupts the turn. */
  cancel(): void | Promise<void>
  /** Whether to stop after this entry; by default, the end of the session is the last one. */
  isLast?(entry: Entry): boolean
  /** Stops reading. The session continues. */
  detach: AbortSignal
}

/**
 * Shows a session and asks a person to answer its requests, until its last entry or until detached. Returns the last
 * turn that ended.
 */
export async function attend(session: AttendedSession, options: Attend): Promise<TurnCompleted | undefined> {
  const { after, show, ask, isLast, detach } = options
  let last: TurnCompleted | undefined
  await untilAborted(detach, async () => {
    for await (const entry of session.entries(after, detach)) {
      await show(entry)
      const { event } = entry
      if (event.type === 'turn.completed') last = event
      if (event.type === 'request.opened' && ask && isForPerson(event))
        await askAbout(session, options, ask, entry.seq, event)
      if (isLast?.(entry)) return
    }
  })
  return last
}

/** Output waits while a person is asked, so a second reader watches whether the request is still open. */
async function askAbout(
  session: AttendedSession,
  { cancel, detach }: Attend,
  ask: AskPerson,
  seq: number,
  request: RequestOpened,
): Promise<void> {
  // In a log that is replayed, the request may be closed already.
  const open = await session.openRequests()
  if (!open.some(({ requestId }) => requestId === request.requestId)) return
  const waiting = new Set(open.filter(isForPerson).map(({ requestId }) => requestId))
  waiting.delete(request.requestId)
  const closed = new AbortController()
  const answered = new AbortController()
  const reading = AbortSignal.any([answered.signal, detach])
  const watching = untilAborted(reading, async () => {
    for await (const entry of session.entries(seq, reading)) {
      if (closes(entry, request.requestId)) return closed.abort()
      count(waiting, entry)
    }
  })
  try {
    const signal = AbortSignal.any([closed.signal, detach])
    let refused: MainstemError | undefined
    do {
      const given = await ask(request, { signal, waiting: () => waiting.size, ...(refused && { refused }) })
      if (signal.aborted) return
      if (!given) return await cancel()
      refused = await refusalOf(session.answer(request, given))
    } while (refused)
  } finally {
    answered.abort()
    await watching
  }
}

/** Why an answer was refused that another answer could replace; undefined if it was accepted or late. */
async function refusalOf(answered: Promise<unknown>): Promise<MainstemError | undefined> {
  let refusal: MainstemError | undefined
  await submitAnswer(answered, async (thrown) => {
    if (!(thrown instanceof MainstemError) || !REFUSED.has(thrown.code)) throw thrown
    refusal = thrown
  })
  return refusal
}

const REFUSED: ReadonlySet<string> = new Set(['invalid_request', 'unsupported_option'])

/** Keeps the requests that wait for a person. */
function count(waiting: Set<string>, { event }: Entry): void {
  if (event.type === 'request.opened' && isForPerson(event)) waiting.add(event.requestId)
  if (event.type === 'request.withdrawn' || event.type === 'request.resolved') waiting.delete(event.requestId)
}

function closes({ event }: Entry, requestId: string): boolean {
  if (event.type === 'turn.completed') return true
  const isClosing = event.type === 'request.withdrawn' || event.type === 'request.resolved'
  return isClosing && event.requestId === requestId
}

/** Ignores an error of a reader that was told to stop. */
async function untilAborted(signal: AbortSignal, read: () => Promise<void>): Promise<void> {
  try {
    await read()
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}
