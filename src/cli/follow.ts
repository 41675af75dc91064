import type { MainstemClient } from '../client/mainstem-client.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import type { Entry } from '../model/index.ts'
import { MainstemError } from '../model/mainstem-error.ts'
import type { Answerer } from './drive.ts'

export interface Follow {
  client: MainstemClient
  session: string
  /** Entries up to this one are not shown. */
  after: number
  show(entry: Entry): Promise<void>
  /** Absent if no person can answer here. */
  answer?: Answerer | undefined
  /** Whether to stop after this entry. */
  isLast(entry: Entry): boolean
  /** Called when the person gives no answer to a request: interrupts the turn, as Ctrl-C does. */
  cancel(): void
  /** Stops reading. The session continues. */
  detach: AbortSignal
}

/** Shows a session and prompts for answers to its requests, until its last entry or until detached. Returns the last turn that ended. */
export async function follow(options: Follow): Promise<TurnCompleted | undefined> {
  const { client, session, after, show, answer, isLast, detach } = options
  let last: TurnCompleted | undefined
  try {
    for await (const entry of client.entries(session, { after, signal: detach })) {
      await show(entry)
      const { event } = entry
      if (event.type === 'turn.completed') last = event
      if (event.type === 'request.opened' && answer && isForPerson(event))
        await ask(options, answer, entry.seq, event)
      if (isLast(entry)) return last
    }
  } catch (thrown) {
    if (!detach.aborted) throw thrown
  }
  return last
}

function isForPerson({ answeredBy = 'person' }: RequestOpened): boolean {
  return answeredBy === 'person'
}

/** Output waits while a person is asked, so a second reader watches whether the request is still open. */
async function ask(
  { client, session, cancel, detach }: Follow,
  answer: Answerer,
  seq: number,
  request: RequestOpened,
): Promise<void> {
  // In a log that is replayed, the request may be closed already.
  const { requests } = await client.session(session)
  if (!requests.some(({ requestId }) => requestId === request.requestId)) return
  const closed = new AbortController()
  const answered = new AbortController()
  const signal = AbortSignal.any([answered.signal, detach])
  const watching = watch(client, session, { after: seq, signal }, request.requestId, closed)
  try {
    const over = AbortSignal.any([closed.signal, detach])
    const given = await answer(request, over)
    if (over.aborted) return
    const { requestId, inputDigest } = request
    if (!given) return cancel()
    const { type: _, requestId: __, ...decision } = given
    await submit(client.answer(session, requestId, { ...decision, inputDigest }))
  } finally {
    answered.abort()
    await watching
  }
}

async function watch(
  client: MainstemClient,
  session: string,
  options: { after: number; signal: AbortSignal },
  requestId: string,
  closed: AbortController,
): Promise<void> {
  try {
    for await (const entry of client.entries(session, options)) {
      if (closes(entry, requestId)) return closed.abort()
    }
  } catch (thrown) {
    if (!options.signal.aborted) throw thrown
  }
}

function closes({ event }: Entry, requestId: string): boolean {
  if (event.type === 'turn.completed') return true
  const isClosing = event.type === 'request.withdrawn' || event.type === 'request.resolved'
  return isClosing && event.requestId === requestId
}

/** Ignores an answer that came too late: the log shows how the request was closed. */
async function submit(answered: Promise<unknown>): Promise<void> {
  try {
    await answered
  } catch (thrown) {
    const code = thrown instanceof MainstemError ? thrown.code : undefined
    if (code !== 'request_not_found' && code !== 'conflict') throw thrown
  }
}
