import { handOverText } from '../../model/events/hand-over-text.ts'
import type { Entry, Event } from '../../model/index.ts'
import { contextAfter } from '../../model/session/context-after.ts'
import { applyAgent } from './apply-agent.ts'
import { applyTool, changeFile, markWaiting } from './apply-tool.ts'
import type { EventOf, MessageItem, RequestItem, TimelineItem } from './items.ts'
import { compactedText, hookText, limitText, unmappedText } from './notice-texts.ts'
import { add, baseOf, find, newTimeline, replace, type Timeline } from './timeline.ts'

/** Adds the next entry of the log to a timeline. Ignores entries that it already has, so streams may overlap. */
export function applyEntry(timeline: Timeline, entry: Entry): void {
  if (entry.seq <= timeline.last) return
  if (timeline.first === 0) timeline.first = entry.seq
  timeline.last = entry.seq
  fold(timeline, entry, entry.event)
}

/** One rule for each event; the compiler finds the one that is missing. */
type Rules = { [Type in Event['type']]: (timeline: Timeline, entry: Entry, event: EventOf<Type>) => void }

const nothing = () => undefined

const RULES: Rules = {
  'session.started': learn,
  'session.updated': learn,
  'session.handed_over': (timeline, entry, event) => {
    const { capabilities, model } = event
    Object.assign(timeline.facts, { ...newTimeline().facts, capabilities, model })
    noticed(timeline, entry, 'info', 'handed_over', handOverText(event), event.recap)
  },
  'session.ended': (timeline, entry, ended) => add(timeline, { ...baseOf('end', entry), kind: 'end', ended }),
  // The record of the session has the queue.
  'turn.queued': nothing,
  'turn.started': begin,
  'turn.steered': (timeline, entry, steered) => prompted(timeline, entry, steered, steered.effect),
  'turn.completed': settle,
  'text.delta': grow,
  'thinking.delta': grow,
  'text.completed': complete,
  'thinking.completed': complete,
  'message.discarded': discard,
  'tool.input.delta': applyTool,
  'tool.started': applyTool,
  'tool.updated': applyTool,
  'tool.progressed': applyTool,
  'tool.completed': applyTool,
  'file.changed': changeFile,
  'plan.updated': planned,
  'subagent.started': applyAgent,
  'subagent.progressed': applyAgent,
  'subagent.completed': applyAgent,
  'hook.started': nothing,
  'hook.completed': hooked,
  'request.opened': opened,
  'request.resolved': (timeline, entry, resolved) => close(timeline, entry, resolved.requestId, { resolved }),
  'request.withdrawn': (timeline, entry, withdrawn) =>
    close(timeline, entry, withdrawn.requestId, { withdrawn }),
  'context.compacted': (timeline, entry, event) =>
    noticed(timeline, entry, 'info', 'context_compacted', compactedText(event)),
  'usage.reported': used,
  'limit.reported': (timeline, entry, event) =>
    noticed(timeline, entry, 'warning', `limit_${event.kind}`, limitText(event)),
  'notice.raised': raised,
  'output.written': written,
  'native.unmapped': (timeline, entry, event) =>
    noticed(timeline, entry, 'info', 'unmapped', unmappedText(event)),
}

function fold<Type extends Event['type']>(timeline: Timeline, entry: Entry, event: EventOf<Type>): void {
  // An event of a newer server has no rule.
  const rule: ((timeline: Timeline, entry: Entry, event: EventOf<Type>) => void) | undefined =
    RULES[event.type as Type]
  rule?.(timeline, entry, event)
}

const messageKey = (type: string, id: string) => `${type.startsWith('text') ? 'text' : 'thinking'}:${id}`

function grow(timeline: Timeline, entry: Entry, event: EventOf<'text.delta' | 'thinking.delta'>): void {
  const item = messageOf(timeline, entry, event)
  replace(timeline, { ...item, text: item.text + event.text })
}

function complete(
  timeline: Timeline,
  entry: Entry,
  event: EventOf<'text.completed' | 'thinking.completed'>,
): void {
  const item = messageOf(timeline, entry, event)
  replace(timeline, { ...item, text: event.text, state: event.partial ? 'cut' : 'done' })
}

/** The message of an event. A message that was discarded is repeated under the same id, as another item. */
function messageOf(
  timeline: Timeline,
  entry: Entry,
  event: { type: string; messageId: string; parent?: string | undefined },
): MessageItem {
  const kind = event.type.startsWith('text') ? 'text' : 'thinking'
  let key = messageKey(event.type, event.messageId)
  let found = find(timeline, key, kind)
  while (found?.state === 'discarded') {
    key = `${key}+`
    found = find(timeline, key, kind)
  }
  if (found) return found
  const item: MessageItem = { ...baseOf(key, entry), kind, text: '', state: 'streaming' }
  add(timeline, item, event.parent)
  return item
}

function discard(timeline: Timeline, _: Entry, { messageId }: EventOf<'message.discarded'>): void {
  for (const kind of ['text', 'thinking'] as const) {
    let key = `${kind}:${messageId}`
    for (let item = find(timeline, key, kind); item; item = find(timeline, key, kind)) {
      if (item.state !== 'discarded') replace(timeline, { ...item, state: 'discarded' })
      key = `${key}+`
    }
  }
}

function begin(timeline: Timeline, entry: Entry, started: EventOf<'turn.started'>): void {
  timeline.running = { turn: started.turn, startedAt: entry.at, tokens: 0 }
  prompted(timeline, entry, started, undefined)
}

function settle(timeline: Timeline, entry: Entry, completed: EventOf<'turn.completed'>): void {
  if (timeline.running?.turn === completed.turn) timeline.running = undefined
  dropDrafts(timeline.items)
  add(timeline, { ...baseOf(`outcome:${entry.seq}`, entry), kind: 'outcome', completed })
}

/** A draft whose call never started is void. */
function dropDrafts(items: TimelineItem[]): void {
  for (const [index, item] of items.entries()) {
    if (item.kind === 'tool' && item.status === 'draft') items[index] = { ...item, status: 'cancelled' }
  }
}

function prompted(
  timeline: Timeline,
  entry: Entry,
  { prompt: text, principal }: Pick<EventOf<'turn.started'>, 'prompt' | 'principal'>,
  steered: 'folded' | 'restarted' | undefined,
): void {
  if (text === undefined) return
  const from = principal === undefined ? {} : { principal }
  add(timeline, { ...baseOf(`prompt:${entry.seq}`, entry), kind: 'prompt', text, ...from, steered })
}

function planned(timeline: Timeline, entry: Entry, { items, parent }: EventOf<'plan.updated'>): void {
  const key = `plan:${entry.turn ?? 0}:${parent ?? ''}`
  const found = find(timeline, key, 'plan')
  if (found) replace(timeline, { ...found, steps: items })
  else add(timeline, { ...baseOf(key, entry), kind: 'plan', steps: items }, parent)
}

function opened(timeline: Timeline, entry: Entry, request: EventOf<'request.opened'>): void {
  // The key is the place in the log, because some agents use an id again in a later process.
  const item: RequestItem = {
    ...baseOf(`request:${entry.seq}`, entry),
    kind: 'request',
    request,
    resolved: undefined,
    withdrawn: undefined,
  }
  timeline.requests.set(request.requestId, item)
  add(timeline, item, request.parent)
  markWaiting(timeline, entry, request.toolId)
}

function close(timeline: Timeline, entry: Entry, requestId: string, end: Partial<RequestItem>): void {
  const open = timeline.requests.get(requestId)
  if (!open) return
  const closed = { ...open, ...end }
  timeline.requests.set(requestId, closed)
  replace(timeline, closed)
  markWaiting(timeline, entry, open.request.toolId)
}

function raised(timeline: Timeline, entry: Entry, { level, code, message }: EventOf<'notice.raised'>): void {
  if (code === 'context_lost' || code === 'resume_failed')
    timeline.facts.contextLost = { seq: entry.seq, message }
  // A silence that lasts is one notice, with its length so far.
  const last = timeline.items.at(-1)
  if (code === 'agent_silent' && last?.kind === 'notice' && last.code === code)
    replace(timeline, { ...last, message })
  else noticed(timeline, entry, level, code, message)
}

function hooked(timeline: Timeline, entry: Entry, hook: EventOf<'hook.completed'>): void {
  if (hook.status === 'success') return
  noticed(timeline, entry, 'warning', `hook_${hook.status}`, hookText(hook))
}

function noticed(
  timeline: Timeline,
  entry: Entry,
  level: 'info' | 'warning' | 'error',
  code: string,
  message: string,
  recap?: string,
): void {
  add(timeline, { ...baseOf(`notice:${entry.seq}`, entry), kind: 'notice', level, code, message, recap })
}

function written(timeline: Timeline, entry: Entry, { stream, line }: EventOf<'output.written'>): void {
  const last = timeline.items.at(-1)
  if (last?.kind === 'output' && last.stream === stream)
    replace(timeline, { ...last, text: `${last.text}\n${line}` })
  else add(timeline, { ...baseOf(`output:${entry.seq}`, entry), kind: 'output', stream, text: line })
}

function used({ facts, running }: Timeline, _: Entry, event: EventOf<'usage.reported'>): void {
  const { scope, total = 0 } = event
  if (running && (scope === 'step' || scope === 'subagent')) running.tokens += total
  if (running && scope === 'turn') running.tokens = total || running.tokens
  facts.usageSource = event.source
  facts.context = contextAfter(facts.context, event)
}

function learn({ facts }: Timeline, _: Entry, event: EventOf<'session.started' | 'session.updated'>): void {
  if (event.model !== undefined) facts.model = event.model
  if (event.type === 'session.started') {
    facts.capabilities = event.capabilities
    return
  }
  if (event.agentVersion !== undefined) facts.agentVersion = event.agentVersion
  if (event.models) facts.models = event.models
  if (event.mode !== undefined) facts.mode = event.mode
  if (event.modes) facts.modes = event.modes
}
