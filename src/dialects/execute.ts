import * as z from 'zod'
import { blobReference } from '../model/blob.ts'
import type { SessionEnded } from '../model/events/session.ts'
import type { ToolCompleted, ToolStarted } from '../model/events/tool.ts'
import type { TurnCompleted, TurnQueued, TurnStarted } from '../model/events/turn.ts'
import { BlobRef, exitCodeOf, Outcome, type Usage } from '../model/index.ts'
import { byRules, type Dialect, defineDialect, type EntryRules, silent } from './dialect.ts'
import { type AnnouncingEvent, announcementOf } from './kit/announcement.ts'
import {
  type AppendOnlyText,
  appendAgain,
  appendDelta,
  appendWhole,
  newAppendOnlyText,
} from './kit/append-only-text.ts'
import { bufferLine, type LineBuffer, newLineBuffer } from './kit/line-buffer.ts'
import { cutOffBy } from './kit/outcome-messages.ts'
import { outputOrError } from './kit/tool-output.ts'
import { UsagePartial } from './kit/usage-partial.ts'

const status = z.enum(['started', 'completed', 'failed'])
const tokens = z.int().nonnegative()

/** The events of `POST /v1/execute`. Clients skip kinds and fields they do not know. */
export const OutputEvent = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('agent_token'), text: z.string() }),
  z.strictObject({ kind: z.literal('thinking'), text: z.string() }),
  z.strictObject({
    kind: z.literal('tool_call'),
    id: z.string(),
    name: z.string(),
    status,
    detail: z.string().optional(),
    input: z.unknown().optional(),
  }),
  z.strictObject({
    kind: z.literal('tool_result'),
    tool_call_id: z.string(),
    output: z.unknown(),
    is_error: z.boolean(),
    blobs: z.array(BlobRef).optional().describe('values that are too large for the event, at `/v1/blobs`'),
  }),
  z.strictObject({
    kind: z.literal('subagent'),
    id: z.string(),
    status: z.enum(['started', 'progress', 'completed', 'failed']),
    label: z.string(),
  }),
  z.strictObject({ kind: z.literal('hook'), id: z.string(), name: z.string(), status }),
  z.strictObject({
    kind: z.literal('usage'),
    input_tokens: tokens,
    output_tokens: tokens,
    cache_read: tokens,
    cache_write: tokens,
    usageReported: z.literal(false).optional().describe('a count that the agent did not report is 0'),
    usagePartial: UsagePartial.optional(),
  }),
  z.strictObject({ kind: z.literal('stdout'), line: z.string() }),
  z.strictObject({ kind: z.literal('stderr'), line: z.string() }),
  z.strictObject({
    kind: z.literal('session_end'),
    exit_code: z.int32(),
    duration_ms: tokens,
    outcome: Outcome.exclude(['completed']).optional().describe('the exact outcome; absent on success'),
  }),
  z.strictObject({
    kind: z.literal('notice'),
    code: z
      .enum(['agent_silent', 'output_truncated', 'quota', 'handed_over'])
      .describe(
        'the agent writes nothing for a long time, earlier lines of stderr are not sent, a usage limit is used up, or another agent continues the session',
      ),
    message: z.string(),
  }),
  z.strictObject({
    kind: z.literal('error'),
    message: z.string(),
    code: z
      .string()
      .optional()
      .describe('from the closed list of error codes, or `context_lost`, which does not end the task'),
  }),
])
export type OutputEvent = z.infer<typeof OutputEvent>

interface ExecuteState {
  /** The turn of the task: the first one that was accepted. */
  turn: number | undefined
  readonly text: AppendOnlyText
  readonly thinking: AppendOnlyText
  readonly labels: Map<string, string>
  readonly stderr: LineBuffer
  usage: Usage | undefined
  ended: boolean
}

/** Hooks that carry no information about the task. */
const LIFECYCLE_HOOKS: ReadonlySet<string> = new Set(['sessionstart', 'stop', 'notification'])

const NOTHING: readonly OutputEvent[] = []

const rules: EntryRules<ExecuteState, OutputEvent> = {
  'text.delta': (state, event) => token(appendDelta(state.text, event)),
  'text.completed': (state, event) => token(appendWhole(state.text, event)),
  'thinking.delta': (state, event) => thought(appendDelta(state.thinking, event)),
  'thinking.completed': (state, event) => thought(appendWhole(state.thinking, event)),
  'message.discarded': (state, event) => {
    appendAgain(state.text, event.messageId)
    appendAgain(state.thinking, event.messageId)
    return NOTHING
  },
  'tool.started': (_, event) => [toolStarted(event)],
  'tool.completed': (_, event, { blobs }) => toolCompleted(event, blobs),
  'subagent.started': (state, event) => {
    state.labels.set(event.id, event.label)
    return [subagent(state, event.id, 'started')]
  },
  'subagent.progressed': (state, event) => [subagent(state, event.id, 'progress')],
  'subagent.completed': (state, event) => [
    subagent(state, event.id, event.status === 'success' ? 'completed' : 'failed'),
  ],
  'hook.started': (_, event) => hook(event, 'started'),
  'hook.completed': (_, event) => hook(event, event.status === 'success' ? 'completed' : 'failed'),
  'usage.reported': (state, event) => {
    if (event.scope === 'turn') state.usage = event
    return NOTHING
  },
  'output.written': (state, { stream, line }) => {
    if (stream === 'stdout') return [{ kind: 'stdout', line }]
    bufferLine(state.stderr, line)
    return NOTHING
  },
  'native.unmapped': (_, { frame, blob }) => [
    { kind: 'stdout', line: frame ?? (blob ? blobReference(blob) : '') },
  ],
  'turn.queued': accept,
  'turn.started': accept,
  // A later prompt may be dropped while the task still runs.
  'turn.completed': (state, event) =>
    state.turn === undefined || state.turn === event.turn ? end(state, event) : NOTHING,
  'session.ended': endSession,
  'session.started': silent,
  'session.updated': silent,
  'turn.steered': silent,
  'tool.input.delta': silent,
  'tool.updated': silent,
  'tool.progressed': silent,
  'file.changed': silent,
  'plan.updated': silent,
  'request.opened': silent,
  'request.resolved': silent,
  'request.withdrawn': silent,
  'context.compacted': silent,
  'limit.reported': announce,
  'session.handed_over': announce,
  'notice.raised': announce,
}

const project = byRules(rules)

/** One task per stream: `session_end` is always its last message and emitted exactly once. */
export const execute: Dialect = defineDialect({
  id: 'execute',
  initial: (): ExecuteState => ({
    turn: undefined,
    text: newAppendOnlyText(),
    thinking: newAppendOnlyText(),
    labels: new Map(),
    stderr: newLineBuffer(),
    usage: undefined,
    ended: false,
  }),
  project: (state, entry) => (state.ended ? NOTHING : project(state, entry)),
  finished: (state) => state.ended,
})

function accept(state: ExecuteState, { turn }: TurnQueued | TurnStarted): readonly OutputEvent[] {
  state.turn ??= turn
  return NOTHING
}

function announce(_: ExecuteState, event: AnnouncingEvent): readonly OutputEvent[] {
  const announcement = announcementOf(event)
  if (!announcement) return NOTHING
  const { code, message } = announcement
  return code === 'context_lost' ? [{ kind: 'error', message, code }] : [{ kind: 'notice', code, message }]
}

function token(text: string): readonly OutputEvent[] {
  return text === '' ? NOTHING : [{ kind: 'agent_token', text }]
}

function thought(text: string): readonly OutputEvent[] {
  return text === '' ? NOTHING : [{ kind: 'thinking', text }]
}

function toolStarted({ toolId, name, title, input }: ToolStarted): OutputEvent {
  return {
    kind: 'tool_call',
    id: toolId,
    name,
    status: 'started',
    ...(title !== undefined && { detail: title }),
    ...(input !== undefined && { input }),
  }
}

function toolCompleted(event: ToolCompleted, blobs?: readonly BlobRef[]): readonly OutputEvent[] {
  const { toolId, name, status } = event
  const failed = status !== 'success' && status !== 'unknown'
  // The reason of a failure that the result does not contain: a denial, a cancellation, or an error besides the output.
  const why = event.error ?? (status !== 'success' && status !== 'error' ? status : undefined)
  return [
    {
      kind: 'tool_call',
      id: toolId,
      name,
      status: failed ? 'failed' : 'completed',
      ...(why !== undefined && { detail: why }),
    },
    {
      kind: 'tool_result',
      tool_call_id: toolId,
      output: outputOrError(event) ?? event.data ?? null,
      is_error: failed,
      ...(blobs && { blobs: [...blobs] }),
    },
  ]
}

function subagent(
  state: ExecuteState,
  id: string,
  status: 'started' | 'progress' | 'completed' | 'failed',
): OutputEvent {
  return { kind: 'subagent', id, status, label: state.labels.get(id) ?? '' }
}

function hook(
  { hookId, name, event }: { hookId: string; name: string; event: string },
  status: 'started' | 'completed' | 'failed',
): readonly OutputEvent[] {
  // Agents spell hook names with different capitalisation.
  return LIFECYCLE_HOOKS.has(event.toLowerCase()) ? NOTHING : [{ kind: 'hook', id: hookId, name, status }]
}

type ExecuteEnding = Pick<TurnCompleted, 'outcome' | 'error' | 'exit' | 'usage' | 'durationMs'>

function end(
  state: ExecuteState,
  event: ExecuteEnding,
  why = FAILURES[event.outcome],
): readonly OutputEvent[] {
  state.ended = true
  const { outcome, durationMs } = event
  const exitCode = exitCodeOf(outcome, event.exit)
  return [
    ...(exitCode === 0 ? NOTHING : stderrOf(state.stderr)),
    ...usage(event.usage ?? state.usage),
    ...failure(event, why),
    {
      kind: 'session_end',
      exit_code: exitCode,
      duration_ms: durationMs,
      ...(outcome !== 'completed' && { outcome }),
    },
  ]
}

/** The newest lines. A notice, and not an invented line, says how many are missing. */
function stderrOf({ lines, dropped }: LineBuffer): OutputEvent[] {
  const sent = lines.map((line) => ({ kind: 'stderr' as const, line }))
  if (dropped === 0) return sent
  const message = `${dropped} earlier lines of stderr are only in the log`
  return [{ kind: 'notice', code: 'output_truncated', message }, ...sent]
}

/** The session ended before its task became a turn, or during that turn. */
function endSession(state: ExecuteState, event: SessionEnded): readonly OutputEvent[] {
  const ending: ExecuteEnding = { outcome: cutOffBy(event), error: event.error, durationMs: 0 }
  return end(state, ending, 'the session ended before the task did')
}

/** A missing count is not zero, but this dialect requires all four counts. */
function usage(used: Usage | undefined): readonly OutputEvent[] {
  if (used?.input === undefined && used?.output === undefined) return NOTHING
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = used
  return [
    {
      kind: 'usage',
      input_tokens: input,
      output_tokens: output,
      cache_read: cacheRead,
      cache_write: cacheWrite,
      ...((used.input === undefined || used.output === undefined) && { usageReported: false }),
      ...(used.partial && { usagePartial: true }),
    },
  ]
}

/** The outcomes that this dialect explains with an `error`, and the message for an outcome without a reason. */
const FAILURES: Partial<Record<Outcome, string>> = {
  failed: 'the agent failed',
  refused: 'the model declined the task',
  crashed: 'the agent ended without a result',
  timeout: 'the turn took longer than it was allowed to',
  lost: 'the process that owned the turn exited',
}

function failure({ outcome, error }: ExecuteEnding, why: string | undefined): readonly OutputEvent[] {
  if (why === undefined || FAILURES[outcome] === undefined) return NOTHING
  return [{ kind: 'error', message: error?.message ?? why, ...(error && { code: error.code }) }]
}
