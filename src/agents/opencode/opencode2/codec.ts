import type { Codec, Decoded, Emitted, Exit } from '../../agent.ts'
import { emit, emitAll, malformed, nothing, skipped, unmapped } from '../../kit/decoded.ts'
import { count, type Fields, fields, int, isFields, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { ruleTable } from '../../kit/rules.ts'
import { settle } from '../../kit/settle.ts'
import { factsOf } from '../effects.ts'
import { threadOf } from '../threads.ts'
import { formCancelled, formCreated, formReplied, permissionAsked, permissionReplied } from './asks.ts'
import { completeEnded, releaseAll } from './blocks.ts'
import { encode } from './commands.ts'
import { isRepeated, missingBefore } from './missing.ts'
import { askLists, isReady } from './opening.ts'
import { readState } from './recovery.ts'
import { decodeRecorded, decodeResponse } from './responses.ts'
import { sent } from './sent.ts'
import { sessionRuleOf } from './session-rules.ts'
import { initialState, type OpencodeState } from './state.ts'
import { adoptChild, adoptRoot, type Thread } from './thread.ts'
import { endTurn } from './turn.ts'

type EventRule = (state: OpencodeState, data: Fields, raw: string) => Decoded

const silent: EventRule = () => nothing
const lists: EventRule = (state) => askLists(state)

const ruleOf = ruleTable<EventRule>({
  'server.connected': (state) => {
    state.streams++
    return state.streams > 1 && state.opening.driven ? readState(state) : nothing
  },
  'session.created': created,
  'session.forked': silent,
  'permission.asked': permissionAsked,
  'permission.replied': permissionReplied,
  'form.created': formCreated,
  'form.replied': formReplied,
  'form.cancelled': formCancelled,
  // Components that the server loads for a directory.
  'agent.updated': lists,
  'plugin.updated': lists,
  'mcp.status.changed': lists,
  'plugin.added': silent,
  'catalog.updated': silent,
  'provider.updated': silent,
  'model.updated': silent,
  'command.updated': silent,
  'skill.updated': silent,
  'integration.updated': silent,
  'reference.updated': silent,
  'websearch.updated': silent,
  'mcp.resources.changed': silent,
  'mcp.tools.changed': silent,
  // Processes of tools: the call reports its own output and exit code.
  'shell.created': silent,
  'shell.exited': silent,
  'shell.deleted': silent,
  // The position of the log, which has no events to replay.
  'log.synced': silent,
})

/** `opencode serve --stdio` of version 2: events arrive as SSE data, commands are HTTP calls. */
export const codec: Codec<OpencodeState> = {
  initial: initialState,

  decode(state, frame) {
    if (frame.stream === 'stderr' || frame.stream === 'stdout')
      return emit({ type: 'output.written', stream: frame.stream, line: frame.text })
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    if (frame.stream === 'http') return endAfterTurn(state, () => decodeResponse(state, native))
    const type = text(native, 'type')
    if (type === undefined) return decodeNote(state, native) ?? unmapped('?', frame.text)
    if (isSeen(state, native)) return skipped
    return endAfterTurn(state, () => decodeEvent(state, native, type, frame.text))
  },

  encode: (state, command) => endAfterTurn(state, () => encode(state, command)),

  unconfirmed: (state) => state.aborting,

  // Prompts and requests have ids, and a second of the other calls changes nothing.
  doubtful: (_, write) => (write.kind === 'http' ? 'again' : undefined),

  sent,

  ready: isReady,

  end: (state, exit) => emitAll(exited(state, exit)),
}

/** A one-shot process ends with its turn. */
function endAfterTurn(state: OpencodeState, decode: () => Decoded): Decoded {
  const { turn, start } = state
  const step = decode()
  if (start.launch !== 'oneshot' || !turn || state.turn) return step
  return { ...step, writes: [...step.writes, { kind: 'end' }] }
}

function decodeEvent(state: OpencodeState, native: Fields, type: string, raw: string): Decoded {
  const created = count(native, 'created') ?? state.clock
  state.clock = Math.max(state.clock, created)
  const data = fields(native, 'data')
  const rule = ruleOf(type)
  if (rule) return rule(state, data, raw)
  const known = sessionRuleOf(type)
  if (!known) return unmapped(type, raw)
  const thread = threadOf(state, data) ?? firstThread(state, data)
  if (!thread) return skipped
  const durable = fields(native, 'durable')
  if (isRepeated(thread, durable)) return skipped
  const missing = missingBefore(thread, durable)
  // Everything of this answer was read, also events that were never received.
  if (state.over.has(text(data, 'assistantMessageID') ?? '')) return skipped
  const before = [...missing, ...released(state, thread, known.proves)]
  const step = known.decode(state, thread, data, created)
  return before.length === 0 ? step : { ...step, emitted: [...before, ...step.emitted] }
}

function released(
  state: OpencodeState,
  thread: Thread,
  proves: 'nothing' | 'text' | 'everything' | 'partial',
): Emitted[] {
  if (proves === 'nothing') return []
  if (proves === 'text') return completeEnded(state, thread, false)
  return releaseAll(state, thread, proves === 'partial')
}

/** Remembers this many events, to recognise those that a second stream repeats. */
const REMEMBERED = 4096

function isSeen({ seen }: OpencodeState, native: Fields): boolean {
  const id = text(native, 'id')
  if (id === undefined) return false
  if (seen.has(id)) return true
  seen.add(id)
  if (seen.size > REMEMBERED) for (const oldest of seen.values()) return !seen.delete(oldest)
  return false
}

/** The first session without a parent is ours, unless we opened one; its descendants are sub-agents. */
function created(state: OpencodeState, data: Fields): Decoded {
  const id = text(data, 'sessionID')
  const parent = text(data, 'parentID')
  if (id === undefined) return nothing
  if (parent === undefined) {
    if (!state.root && !state.opening.driven) adoptRoot(state, id)
    if (id !== state.root?.id) return skipped
    return emitAll(updateSession(state, factsOf(id, data)))
  }
  const above = state.threads.get(parent)
  // Emits nothing before the child works: the call that runs it will name it.
  if (above && !state.threads.has(id))
    adoptChild(state, id, above, text(data, 'title') ?? id, text(data, 'agent'))
  return nothing
}

/** Without a session of ours, the first one on the stream is the recorded one. */
function firstThread(state: OpencodeState, data: Fields): Thread | undefined {
  const id = text(data, 'sessionID')
  if (state.root || state.opening.driven || id === undefined) return undefined
  return adoptRoot(state, id)
}

/** A line of a transcript that is not an event: a response, a comment of the stream, or the end of a connection. */
function decodeNote(state: OpencodeState, native: Fields): Decoded | undefined {
  if (native.raw !== undefined || native.closed !== undefined || native.sse !== undefined) return nothing
  if (native.status !== undefined && native.path !== undefined) return decodeRecorded(state, native)
  if (native.serviceExit === undefined) return undefined
  const exit = fields(native, 'serviceExit')
  const code = int(exit, 'code')
  const signal = text(exit, 'signal')
  return emitAll(
    exited(state, {
      cause: 'exit',
      ...(code !== undefined && { code }),
      ...(signal !== undefined && { signal }),
    }),
  )
}

/** No work outlives the server. */
function exited(state: OpencodeState, exit: Exit): Emitted[] {
  if (state.turn) return endTurn(state, { exit })
  const emitted: Emitted[] = []
  for (const thread of state.threads.values()) emitted.push(...releaseAll(state, thread))
  emitted.push(...settle(state.ledger, 'interrupted', true))
  return emitted
}
