import type { BeginSession, SessionQuery, SessionRecord } from '../../client/index.ts'
import type { MainstemClient } from '../../client/mainstem-client.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { exitCodeOf, turnExitCode } from '../../model/outcome/outcome-faces.ts'
import { isForPerson } from '../../model/request/for-person.ts'
import { connect, type ServerFlags } from '../contexts/connect.ts'
import { callerKeys } from '../daemon/caller-keys.ts'
import { MAINSTEM } from '../own-command.ts'
import { printable, printableJson } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { isInState, renderSessions } from '../render/sessions.ts'
import { screenOn } from '../render/show.ts'
import { noticeText } from '../turn/follow.ts'
import { allSessions, continueHint, isSessionId, refOf, sessionOf } from '../turn/session-ref.ts'
import { promptFrom } from '../turn/stdin-prompt.ts'
import { Transcript, type TranscriptFlags } from '../turn/transcript.ts'
import { pageOpener, watchTurn } from '../turn/watch-turn.ts'
import { STDIN_SILENCE_MS } from './run-action.ts'
import type { ForkFlags, LsFlags, RewindFlags, SendFlags, StopFlags, WaitFlags } from './sessions.ts'

const NEWEST = 20

/** States that the server can filter by, at least roughly. */
const FILTERS: Readonly<Record<string, SessionQuery>> = {
  failed: { failed: true },
  asking: { asking: true },
  working: { status: 'busy' },
}

export async function ls(flags: LsFlags): Promise<void> {
  const { client } = await connect(flags)
  const { all, state, since = 0 } = flags
  const isLimited = state !== undefined || since > 0
  const found =
    all || isLimited
      ? await allSessions(client, FILTERS[state ?? ''])
      : (await client.sessions({ limit: NEWEST })).sessions
  const sessions = found.filter((session) => session.updatedAt >= since && isInState(session, state))
  const { degraded } = await client.server()
  if (degraded) console.error(printable(noticeText({ type: 'server.degraded', ...degraded })))
  const { stdout } = process
  const text = flags.json
    ? sessions.map((session) => `${printableJson(session)}\n`).join('')
    : renderSessions(new Screen(screenOn(stdout)), sessions, Date.now())
  await new Printer(stdout).print(text)
}

export async function attach(ref: string, flags: ServerFlags & TranscriptFlags): Promise<void> {
  const { client } = await connect(flags)
  const session = await sessionOf(client, ref)
  using transcript = await Transcript.open(process, flags)
  transcript.workIn(session.cwd)
  const isAtRest = session.status !== 'busy' && session.queue.length === 0
  // A session at rest is shown to its head; one at work, to the end of its work.
  const after = (session.earliest ?? 1) - 1
  if (isAtRest) {
    process.exitCode = await showUpTo(transcript, client, session, after)
    return
  }
  const { id, name } = session
  const openPage = pageOpener(flags)
  process.exitCode = await watchTurn(transcript, { client, session: id, name, after, isKept: true, openPage })
}

async function showUpTo(
  transcript: Transcript,
  client: MainstemClient,
  { id, head, name }: SessionRecord,
  after: number,
): Promise<number> {
  let code = 0
  if (after >= head) return code
  for await (const entry of client.entries(id, { after })) {
    await transcript.show(entry)
    if (entry.event.type === 'turn.completed') code = turnExitCode(entry.event)
    if (entry.seq >= head) break
  }
  await transcript.finish()
  if (transcript.canAsk) await transcript.note(continueHint({ id, name }))
  return code
}

export async function send(ref: string, argument: string | undefined, flags: SendFlags): Promise<void> {
  const { stdin } = process
  const warn = (message: string) => console.error(`mainstem: ${message}`)
  const prompt = await promptFrom({ argument, stdin, silenceMs: STDIN_SILENCE_MS, warn })
  const server = await connect(flags)
  const { client } = server
  const session = await sessionOf(client, ref)
  const { id } = session
  if (session.status === 'ended') {
    throw new MainstemError('conflict', `session ${refOf(session)} has ended`, {
      advice: `Run \`mainstem run ${session.agent} --resume ${refOf(session)}\` to continue its conversation.`,
    })
  }
  const { agent } = flags
  if (agent !== undefined && flags.steer)
    throw new MainstemError('invalid_request', '--agent and --steer: use one of them')
  if (agent !== undefined && agent !== session.agent) await client.continueWith(id, { agent })
  let turn = session.openTurn
  if (flags.steer) await client.steer(id, prompt)
  else
    turn = await client.prompt(id, prompt, undefined, undefined, callerKeys(server, agent ?? session.agent))
  await watch(client, session, turn, flags)
}

/** Gives the agent a command of its own terminal, and shows the turn. */
export async function runVerb(verb: 'compact' | 'review', ref: string, flags: SendFlags): Promise<void> {
  await command(ref, flags, (client, id, keys) => client[verb](id, keys))
}

export async function goal(ref: string, text: string, flags: SendFlags): Promise<void> {
  await command(ref, flags, (client, id, keys) => client.goal(id, text, keys))
}

export async function rewind(ref: string, { to, ...flags }: RewindFlags): Promise<void> {
  await command(ref, flags, (client, id, keys) => client.rewind(id, to, keys))
}

async function command(
  ref: string,
  flags: SendFlags,
  begin: (client: MainstemClient, id: string, keys: BeginSession['keys']) => Promise<number>,
): Promise<void> {
  const server = await connect(flags)
  const { client } = server
  const session = await sessionOf(client, ref)
  const turn = await begin(client, session.id, callerKeys(server, session.agent))
  await watch(client, session, turn, flags)
}

export async function fork(ref: string, { name, ...flags }: ForkFlags): Promise<void> {
  const server = await connect(flags)
  const { client } = server
  const { id, agent } = await sessionOf(client, ref)
  const keys = callerKeys(server, agent)
  const copy = await client.fork(id, { ...(name !== undefined && { name }), ...(keys && { keys }) })
  console.log(copy.id)
  console.error(continueHint({ id: copy.id, name }))
}

async function watch(
  client: MainstemClient,
  session: SessionRecord,
  turn: number | undefined,
  flags: SendFlags,
): Promise<void> {
  const { id, name, cwd, head } = session
  if (flags.detach) {
    console.error(`watch it: ${MAINSTEM} attach ${refOf(session)}`)
    return
  }
  using transcript = await Transcript.open(process, flags)
  transcript.workIn(cwd)
  process.exitCode = await watchTurn(transcript, {
    client,
    session: id,
    name,
    after: head,
    turn,
    isKept: true,
    openPage: pageOpener(flags),
  })
}

export async function wait(ref: string, { timeout, ...flags }: WaitFlags): Promise<void> {
  const { client } = await connect(flags)
  const { id } = await sessionOf(client, ref)
  const signal = timeout === undefined ? undefined : AbortSignal.timeout(timeout * 1000)
  const settled = await untilAtRest(client, id, signal)
  if (settled.lastOutcome) {
    process.exitCode = exitCodeOf(settled.lastOutcome, undefined)
    console.log(settled.lastOutcome)
  }
}

async function untilAtRest(client: MainstemClient, id: string, signal?: AbortSignal): Promise<SessionRecord> {
  let record = await client.session(id)
  const isAtRest = () => record.status !== 'busy' && record.queue.length === 0
  try {
    const reading = { after: record.head, ...(signal && { signal }) }
    if (!isAtRest()) {
      if (record.requests.some(isForPerson)) noteAsking(record)
      for await (const { event } of client.entries(id, reading)) {
        if (event.type === 'request.opened' && isForPerson(event)) noteAsking(record)
        if (event.type !== 'turn.completed' && event.type !== 'session.ended') continue
        record = await client.session(id)
        if (isAtRest()) break
      }
    }
  } catch (thrown) {
    if (!signal?.aborted) throw thrown
    throw new MainstemError('timeout', `session ${refOf(record)} is still at work`, {
      advice: 'Wait longer, or interrupt it with `mainstem stop`.',
    })
  }
  return record
}

/** Nothing ends meanwhile, so somebody has to know. */
function noteAsking(record: SessionRecord): void {
  console.error(`session ${refOf(record)} waits for an answer: ${MAINSTEM} attach ${refOf(record)}`)
}

export async function stop(refs: readonly string[], { end, ...flags }: StopFlags): Promise<void> {
  const { client } = await connect(flags)
  for (const ref of refs) {
    const session = await sessionOf(client, ref)
    const continues = session.queue.some(({ continuation }) => continuation)
    if (session.status === 'busy' || continues) await client.interrupt(session.id)
    if (end) await client.end(session.id)
    const { status, lastOutcome } = await client.session(session.id)
    console.log(`${refOf(session)} ${status}${lastOutcome === undefined ? '' : `, ${lastOutcome}`}`)
  }
}

/** An empty name removes it. */
export async function rename(ref: string, name: string, flags: ServerFlags): Promise<void> {
  const { client } = await connect(flags)
  const session = await sessionOf(client, ref)
  const renamed = await client.rename(session.id, name === '' ? null : name)
  console.log(`${refOf(session)} is now ${refOf(renamed)}`)
}

export async function rm(refs: readonly string[], flags: ServerFlags): Promise<void> {
  const { client } = await connect(flags)
  // Looks up all sessions first, so that a wrong name deletes nothing.
  const sessions: Pick<SessionRecord, 'id' | 'name'>[] = []
  for (const ref of refs) sessions.push(await removable(client, ref))
  for (const session of sessions) {
    await client.delete(session.id)
    console.log(`removed ${refOf(session)}`)
  }
}

/** A damaged session cannot be loaded, and is removed by its whole id. */
async function removable(client: MainstemClient, ref: string): Promise<Pick<SessionRecord, 'id' | 'name'>> {
  try {
    return await sessionOf(client, ref)
  } catch (thrown) {
    const isDamaged = thrown instanceof MainstemError && thrown.code === 'storage_failed'
    if (isDamaged && isSessionId(ref)) return { id: ref }
    throw thrown
  }
}
