import type { LeftRun, Run, WriteState } from '../../drivers/driver.ts'
import { BLOB_REFERENCE } from '../../model/blob.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import { type BlobRef, type Event, MainstemError, type SessionRecord } from '../../model/index.ts'
import type { JournalFrame, Store } from '../../stores/store.ts'
import { reattached } from '../machine/notices.ts'
import { REPLACED, Rebuild, type SettledWrite, startedIn } from '../machine/rebuild.ts'
import { SENT, type Started } from '../machine/sent.ts'
import { checkDirectories } from '../process/setup.ts'
import { protect } from '../process/start-plan.ts'
import type { SessionParts } from '../session-parts.ts'
import { IN_DOUBT } from '../turns/doubt.ts'
import { isCounted } from '../turns/turn-limits.ts'

const PAGE = 512

/** Decides about the writes that the agent may not have. Undefined if nobody can know what it has. */
function settled(
  { conversation }: SessionParts,
  { pending }: Rebuild,
  { done, doubtful, isTorn }: WriteState,
): readonly SettledWrite[] | undefined {
  const known: SettledWrite[] = []
  for (const { number, write, requestId } of pending) {
    const isDoubtful = number < done + doubtful
    const doubt = isDoubtful && !isTorn ? conversation.doubtful(write) : undefined
    if (isDoubtful && doubt === undefined) return undefined
    const isMade = doubt !== 'watch' && doubt !== 'received' && requestId !== REPLACED
    known.push({ write, isMade, ...(doubt === 'watch' && write.kind === 'text' && { isWatched: true }) })
  }
  return known
}

/** The start of a process that an earlier owner of its session left. */
export async function startOfRun(
  store: Store,
  kept: ReadonlyMap<number, string>,
  session: string,
  frame: number,
): Promise<Started> {
  const [first] = await store.readJournal(session, frame - 1, 1)
  return startedIn(first?.frame === frame ? first : undefined, kept)
}

/**
 * Continues the process of an earlier owner: rebuilds its state from the journal, reads on after what is committed, and
 * makes the writes that the agent does not have. Everything that the owner had still to do is done now.
 */
export async function reattach(parts: SessionParts, started: Started, left: LeftRun): Promise<void> {
  const { agent, conversation, deps, log, setup } = parts
  const { runId, frame, isStarted } = left
  const { lasting } = deps.driver
  if (!lasting) throw new TypeError('the driver has no runs that outlive it')
  checkDirectories(setup, deps)
  const keys = lasting.keys(runId)
  if (keys) protect(parts, keys)
  const written = isStarted ? lasting.written(runId) : { done: 0, bytes: 0, doubtful: 0 }
  const counted: Event[] = []
  const rebuild = new Rebuild(conversation, started, {
    runs: lasting,
    kept: lasting.kept(runId, parts.state.frames),
    firstWrite: written.done,
  })
  parts.rebuilding((event) => {
    if (event.type === 'turn.started') counted.length = 0
    if (isCounted(event)) counted.push(event)
    if (event.type === 'request.opened') rebuild.opened(event.requestId)
  })
  for await (const one of journalAfter(deps.store, setup.id, frame, parts.state.frames)) rebuild.take(one)
  const { turn } = rebuild
  const startedAt = turn && deps.clock.monotonic() - Math.max(0, deps.clock.now() - turn.at)
  conversation.rebuilt(
    parts.state,
    turn && startedAt !== undefined ? { turn: turn.turn, startedAt } : undefined,
  )
  parts.rebuilt()
  parts.changes.attach(rebuild.settings, rebuild.isStale)
  const run: Run = isStarted
    ? agent.continueOutput(runId, rebuild.position)
    : agent.startAgain(runId, started.start)
  if (conversation.turn !== undefined) conversation.notify(reattached(setup.agent.id, setup.recipe.stream))
  const writes = settled(parts, rebuild, written)
  if (!writes) conversation.setCause('lost', IN_DOUBT)
  agent.attach(run, writes ?? [], rebuild, left)
  await log.commit()
  if (turn) parts.turns.attach(turn, counted, left.outputAt)
  for (const { write, isWatched } of writes ?? []) if (isWatched) parts.turns.watchDoubt(write)
  for (const request of [...log.requests]) parts.answering.opened(request, blobsNamedIn(request))
  await log.commit()
  if (!writes || rebuild.isClosing) await agent.stop()
  else parts.turns.startNext()
}

/** Whether the end of the last process of a session is committed. */
export async function hasExited(store: Store, { id, frames }: SessionRecord): Promise<boolean> {
  const [last] = await store.readJournal(id, frames - 1, 1)
  return last?.stream === SENT && 'exited' in JSON.parse(last.text)
}

async function* journalAfter(
  store: Store,
  session: string,
  after: number,
  last: number,
): AsyncGenerator<JournalFrame> {
  for (let at = after; at < last; ) {
    const frames = await store.readJournal(session, at, PAGE)
    if (frames.length === 0) return
    for (const frame of frames) {
      if (frame.frame <= last) yield frame
      at = frame.frame
    }
  }
}

/** The blobs that a request refers to: a hook cannot read them. */
function blobsNamedIn(request: RequestOpened): BlobRef[] | undefined {
  const named = JSON.stringify(request).match(BLOB_REFERENCE)
  return named?.map((reference) => ({ id: reference.slice(1, -1), bytes: 0 }))
}

/** Refuses a process whose session may do less now than when it was started. */
export function checkAllowed(before: unknown, allowed: unknown): void {
  if (JSON.stringify(before) === JSON.stringify(allowed)) return
  throw new MainstemError('forbidden', 'the configuration now allows less than the agent was started with')
}
