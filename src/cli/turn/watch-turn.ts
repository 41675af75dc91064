import type { MainstemClient } from '../../client/mainstem-client.ts'
import type { Event } from '../../model/index.ts'
import { turnExitCode } from '../../model/outcome/outcome-faces.ts'
import type { ServerFlags } from '../contexts/connect.ts'
import { MAINSTEM } from '../own-command.ts'
import { compose } from './compose.ts'
import { onCtrlC } from './detach.ts'
import { follow } from './follow.ts'
import { continueHint, refOf } from './session-ref.ts'
import type { Transcript } from './transcript.ts'

export interface WatchedTurn {
  client: MainstemClient
  session: string
  name?: string | undefined
  after: number
  /** The turn to wait for; without it, until the session has nothing left to do. */
  turn?: number | undefined
  /** Whether to print how to continue. */
  isKept: boolean
  /** Opens the page; absent without a daemon. */
  openPage?: (() => Promise<void>) | undefined
}

/** Opens the page of the daemon, for `/open`. */
export function pageOpener({ data, config, context, server }: ServerFlags): () => Promise<void> {
  const flags = {
    ...(data !== undefined && { data }),
    ...(config !== undefined && { config }),
    ...(context !== undefined && { context }),
    ...(server !== undefined && { server }),
  }
  return async () => (await import('../daemon/open.ts')).open(flags)
}

/** The code of a program that SIGPIPE ended. */
const CLOSED_PIPE = 141

/**
 * Shows a session until a turn has ended, and further prompts that are written meanwhile. Ctrl-C interrupts it; twice, it
 * stops watching. Gives the exit code.
 */
export async function watchTurn(transcript: Transcript, watched: WatchedTurn): Promise<number> {
  const { client, session, name, after, turn, isKept, openPage } = watched
  const left = new AbortController()
  const work = new AwaitedTurns(turn)
  const interrupt = (detached?: AbortSignal) => {
    // Only a draft kept it here.
    if (work.isDone) return left.abort()
    transcript.interrupting()
    // The effect appears in the log, which is shown.
    client.interrupt(session, detached).catch((thrown: unknown) => {
      if (!detached?.aborted) void transcript.note(`mainstem: ${thrown}`)
    })
  }
  using signals = onCtrlC(interrupt)
  // A reader that has closed the pipe, as `| head` does, has disconnected. That stops nothing.
  transcript.closed.addEventListener('abort', () => signals.detach(), { once: true })
  using keyboard = transcript.keyboard()
  using composer =
    keyboard && transcript.canCompose
      ? compose({
          client,
          session,
          transcript,
          keyboard,
          interrupt: () => void (work.isDone || interrupt()),
          queued: (added) => work.wait(added),
          detach: () => signals.detach(),
          emptied() {
            if (work.isDone) left.abort()
          },
          openPage,
        })
      : undefined
  const last = await follow({
    client,
    session,
    after,
    show(entry) {
      if (entry.event.type === 'turn.started') signals.rearm()
      return transcript.show(entry)
    },
    ask: keyboard && transcript.answerWith(keyboard),
    isLast({ event }) {
      work.see(event)
      return event.type === 'session.ended' || (work.isDone && !composer?.isBusy)
    },
    cancel: () => signals.press(),
    notice: (text) => void transcript.note(text),
    detach: AbortSignal.any([signals.detached, left.signal]),
  })
  await transcript.finish()
  const shown = { id: session, name }
  if (signals.detached.aborted) {
    await transcript.note(`detached; the session continues: ${MAINSTEM} attach ${refOf(shown)}`)
    return transcript.closed.aborted ? CLOSED_PIPE : 130
  }
  if (isKept && transcript.canAsk) await transcript.note(continueHint(shown))
  return last ? turnExitCode(last) : 0
}

/** The turns to wait for: those that were asked for here, or all of a session. */
class AwaitedTurns {
  readonly #awaited: Set<number>
  readonly #awaitsAll: boolean
  #open: number | undefined
  readonly #queued = new Set<number>()
  readonly #ended = new Set<number>()

  constructor(turn: number | undefined) {
    this.#awaitsAll = turn === undefined
    this.#awaited = new Set(turn === undefined ? [] : [turn])
  }

  /** Waits for another turn as well. Its end may be known already. */
  wait(turn: number): void {
    this.#awaited.add(turn)
  }

  get isDone(): boolean {
    if (this.#ended.size === 0 || [...this.#awaited].some((turn) => !this.#ended.has(turn))) return false
    return !this.#awaitsAll || (this.#open === undefined && this.#queued.size === 0)
  }

  see(event: Event): void {
    if (event.type === 'turn.queued') {
      this.#queued.add(event.turn)
      // The work that is awaited continues in that turn.
      if (event.continuation && this.#awaited.has(event.continuation.after)) this.#awaited.add(event.turn)
    }
    if (event.type === 'turn.started') {
      this.#queued.delete(event.turn)
      this.#open = event.turn
    }
    if (event.type !== 'turn.completed') return
    this.#queued.delete(event.turn)
    this.#ended.add(event.turn)
    if (event.turn === this.#open) this.#open = undefined
  }
}
