import type { MainstemClient } from '../../client/mainstem-client.ts'
import { MAINSTEM } from '../own-command.ts'
import { onCtrlC } from './detach.ts'
import { follow } from './follow.ts'
import { refOf } from './session-ref.ts'
import type { Transcript } from './transcript.ts'
import { turnExitCode } from './turn-exit-code.ts'

export interface WatchedTurn {
  client: MainstemClient
  session: string
  name?: string | undefined
  after: number
  /** The turn to wait for; without it, until the session has nothing left to do. */
  turn?: number | undefined
  /** Whether to print how to continue. */
  isKept: boolean
}

/** The code of a program that SIGPIPE ended. */
const CLOSED_PIPE = 141

/** Shows a session until a turn has ended. Ctrl-C interrupts it; twice, it stops watching. Gives the exit code. */
export async function watchTurn(transcript: Transcript, watched: WatchedTurn): Promise<number> {
  const { client, session, name, after, turn, isKept } = watched
  const interrupt = (detached: AbortSignal) => {
    transcript.interrupting()
    // The effect appears in the log, which is shown.
    client.interrupt(session, detached).catch((thrown: unknown) => {
      if (!detached.aborted) void transcript.note(`mainstem: ${thrown}`)
    })
  }
  using signals = onCtrlC(interrupt)
  // A reader that has closed the pipe, as `| head` does, has disconnected. That stops nothing.
  transcript.closed.addEventListener('abort', () => signals.detach(), { once: true })
  using keyboard = transcript.keyboard()
  let open: number | undefined
  const waiting = new Set<number>()
  const last = await follow({
    client,
    session,
    after,
    show: (entry) => transcript.show(entry),
    ask: keyboard && transcript.answerWith(keyboard),
    isLast({ event }) {
      if (event.type === 'turn.queued') waiting.add(event.turn)
      if (event.type === 'turn.started') {
        open = event.turn
        waiting.delete(event.turn)
      }
      if (event.type !== 'turn.completed') return event.type === 'session.ended'
      waiting.delete(event.turn)
      if (event.turn === open) open = undefined
      return turn === undefined ? open === undefined && waiting.size === 0 : event.turn === turn
    },
    cancel: () => signals.press(),
    detach: signals.detached,
  })
  await transcript.finish()
  const ref = refOf({ id: session, ...(name !== undefined && { name }) })
  if (signals.detached.aborted) {
    await transcript.note(`detached; the session continues: ${MAINSTEM} attach ${ref}`)
    return transcript.closed.aborted ? CLOSED_PIPE : 130
  }
  if (isKept && transcript.canAsk) await transcript.note(`continue: ${MAINSTEM} send ${ref} "…"`)
  return last ? turnExitCode(last) : 0
}
