import { type AskPerson, type AttendedSession, attend } from '../../attend/attend.ts'
import type { Wired } from '../../compose/wire.ts'
import type { TurnCompleted } from '../../model/events/turn.ts'
import type { Entry } from '../../model/index.ts'
import { OWNER } from '../../model/owner.ts'

type WiredSessions = Wired['sessions']
type WiredSession = Awaited<ReturnType<WiredSessions['create']>>

export interface Drive {
  request: Parameters<WiredSessions['create']>[0]
  prompt: string
  /** Shows an entry. The next entry is read after this settles. */
  show(entry: Entry): Promise<void>
  /** Absent if no person can answer. */
  answer?: AskPerson | undefined
  /** Interrupts the turn. The rest of the session is still shown. */
  stop: AbortSignal
}

/** Runs one prompt in a new session, from its first entry to its last. */
export async function drive(
  sessions: WiredSessions,
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
  await attend(attendedOf(sessions, session), {
    after: 0,
    ask: answer,
    async show(entry) {
      await show(entry)
      const { event } = entry
      if (event.type === 'turn.completed' && event.turn === turn) await session.end()
    },
    cancel: () => session.interrupt(),
    detach: reading.signal,
  })
  return settled
}

/** The user of this machine, at the terminal. */
const AUTHOR = { principal: OWNER, client: 'terminal' } as const

function attendedOf(sessions: WiredSessions, session: WiredSession): AttendedSession {
  return {
    async *entries(after, signal) {
      for await (const entries of sessions.follow(session.id, after, signal)) yield* entries
    },
    openRequests: async () => session.record?.requests ?? [],
    answer: ({ inputDigest }, answer) => session.answer({ ...answer, ...AUTHOR, inputDigest }),
  }
}
