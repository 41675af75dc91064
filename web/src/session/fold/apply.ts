import type { Entry, Event } from 'mainstem/client'
import { count } from '../../text/format.ts'
import { applyAgent } from './apply-agent.ts'
import { applyTool, changeFile } from './apply-tool.ts'
import type { EventOf, Item, MessageItem, RequestItem } from './items.ts'
import { add, baseOf, find, replace, type Timeline } from './timeline.ts'

/** Folds one entry. Ignores an entry that was folded before, so streams may overlap. */
export function apply(timeline: Timeline, entry: Entry): void {
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
  'session.ended': (timeline, entry, ended) => add(timeline, { ...baseOf('end', entry), kind: 'end', ended }),
  // The record of the session has the queue.
  'turn.queued': nothing,
  'turn.started': (timeline, entry, { prompt }) => prompted(timeline, entry, prompt, undefined),
  'turn.steered': (timeline, entry, { prompt, effect }) => prompted(timeline, entry, prompt, effect),
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
  'request.resolved': (timeline, _, resolved) => close(timeline, resolved.requestId, { resolved }),
  'request.withdrawn': (timeline, _, withdrawn) => close(timeline, withdrawn.requestId, { withdrawn }),
  'context.compacted': (timeline, entry, event) =>
    noticed(timeline, entry, 'info', 'context_compacted', compactText(event)),
  'usage.reported': used,
  'limit.reported': (timeline, entry, event) =>
    noticed(timeline, entry, 'warning', `limit_${event.kind}`, limitText(event)),
  'notice.raised': raised,
  'output.written': written,
  'native.unmapped': (timeline, entry, { nativeType }) =>
    noticed(timeline, entry, 'info', 'unmapped', `A frame of type ${nativeType} that no rule knows`),
}

function fold<Type extends Event['type']>(timeline: Timeline, entry: Entry, event: EventOf<Type>): void {
  // An event of a newer server than this page has no rule, and stays visible among the events.
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

function settle(timeline: Timeline, entry: Entry, completed: EventOf<'turn.completed'>): void {
  dropDrafts(timeline.items)
  add(timeline, { ...baseOf(`outcome:${entry.seq}`, entry), kind: 'outcome', completed })
}

/** A draft whose call never started is void. */
function dropDrafts(items: Item[]): void {
  for (const [index, item] of items.entries()) {
    if (item.kind === 'tool' && item.status === 'draft') items[index] = { ...item, status: 'cancelled' }
  }
}

function prompted(
  timeline: Timeline,
  entry: Entry,
  text: string | undefined,
  steered: 'folded' | 'restarted' | undefined,
): void {
  if (text === undefined) return
  add(timeline, { ...baseOf(`prompt:${entry.seq}`, entry), kind: 'prompt', text, steered })
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
}

function close(timeline: Timeline, requestId: string, end: Partial<RequestItem>): void {
  const open = timeline.requests.get(requestId)
  if (!open) return
  const closed = { ...open, ...end }
  timeline.requests.set(requestId, closed)
  replace(timeline, closed)
}

function raised(timeline: Timeline, entry: Entry, { level, code, message }: EventOf<'notice.raised'>): void {
  if (code === 'context_lost' || code === 'resume_failed')
    timeline.facts.contextLost = { seq: entry.seq, message }
  noticed(timeline, entry, level, code, message)
}

function hooked(timeline: Timeline, entry: Entry, { status, name, output }: EventOf<'hook.completed'>): void {
  if (status === 'success') return
  noticed(timeline, entry, 'warning', `hook_${status}`, [name, output].filter(Boolean).join(': '))
}

function noticed(
  timeline: Timeline,
  entry: Entry,
  level: 'info' | 'warning' | 'error',
  code: string,
  message: string,
): void {
  add(timeline, { ...baseOf(`notice:${entry.seq}`, entry), kind: 'notice', level, code, message })
}

const LIMITS = { retry: 'Retrying a model call', rate: 'Rate limit', quota: 'Quota' } as const

function limitText({ kind, attempt, of, message, usedPercent }: EventOf<'limit.reported'>): string {
  const tries = attempt === undefined ? '' : `, attempt ${attempt}${of === undefined ? '' : ` of ${of}`}`
  const share = usedPercent === undefined ? '' : `, ${Math.round(usedPercent)}% used`
  return [`${LIMITS[kind]}${tries}${share}`, message].filter(Boolean).join(': ')
}

function compactText({ before, after }: EventOf<'context.compacted'>): string {
  const figures =
    before !== undefined && after !== undefined ? ` from ${count(before)} to ${count(after)} tokens` : ''
  return `The agent compacted its context${figures}`
}

function written(timeline: Timeline, entry: Entry, { stream, line }: EventOf<'output.written'>): void {
  const last = timeline.items.at(-1)
  if (last?.kind === 'output' && last.stream === stream)
    replace(timeline, { ...last, text: `${last.text}\n${line}` })
  else add(timeline, { ...baseOf(`output:${entry.seq}`, entry), kind: 'output', stream, text: line })
}

function used({ facts }: Timeline, _: Entry, event: EventOf<'usage.reported'>): void {
  facts.usageSource = event.source
  if (event.contextUsed !== undefined) facts.context = { used: event.contextUsed, size: event.contextSize }
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
