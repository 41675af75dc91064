import { oracle as acp } from './acp.ts'
import type { Oracle, OracleTurn } from './oracle.ts'

interface Event {
  type?: string
  id?: string
  data?: Data
}

interface Data {
  sessionID?: string
  parentID?: string
  inboxID?: string
  assistantMessageID?: string
  id?: string
  name?: string
  text?: string
  finish?: string
  reason?: string
  cost?: number
  tokens?: Tokens
  error?: { type?: string; message?: string }
  metadata?: { exit?: number; error?: boolean }
  delivery?: string
  reply?: string
  requestID?: string
  source?: { id?: string }
  item?: { type?: string; delivery?: string }
}

interface Item {
  type?: string
  delivery?: string
  read: boolean
}

interface Tokens {
  input: number
  output: number
  reasoning: number
  cache: { read: number; write: number }
}

const isEvent = (value: unknown): value is Event =>
  typeof value === 'object' && value !== null && 'data' in value && 'type' in value

const isRunLine = (value: unknown): value is { type: string; part?: { text?: string } } =>
  typeof value === 'object' && value !== null && 'timestamp' in value

/** Reads executions of the root: their end, their last text, their calls and the sum of their steps. */
export const oracle: Oracle = (recording) => {
  const values = recording.messages.map(({ value }) => value)
  if (values.some((value) => typeof value === 'object' && value !== null && 'jsonrpc' in value))
    // The call of a dismissed question fails before its prompt is cancelled.
    return { turns: acp(recording).turns.map(({ tools: _, ...turn }) => turn) }
  const lines = values.filter(isRunLine)
  const last = lines.findLast(({ type }) => type === 'text')?.part?.text
  if (lines.length > 0) return { turns: [{ ...(last !== undefined && { text: last }) }] }
  const events = distinct(values)
  if (events.length === 0) return { turns: values.some((value) => typeof value === 'string') ? [{}] : [] }
  return { turns: turnsOf(events) }
}

/** Two clients of one recording receive every event twice. */
function distinct(values: readonly unknown[]): Event[] {
  const seen = new Set<string>()
  return values.flatMap((value): Event[] => {
    if (typeof value === 'object' && value !== null && 'serviceExit' in value) return [{ type: 'exit' }]
    if (!isEvent(value) || (value.id !== undefined && seen.has(value.id))) return []
    if (value.id !== undefined) seen.add(value.id)
    return [value]
  })
}

function turnsOf(events: readonly Event[]): OracleTurn[] {
  const root = events.find(({ type, data }) => type === 'session.created' && !data?.parentID)?.data?.sessionID
  const items = new Map<string | undefined, Item>()
  for (const { data } of events) if (data?.item) items.set(data.inboxID, { ...data.item, read: false })
  // After a gap the calls are known from the stored messages only.
  const isWhole = events.filter(({ type }) => type === 'server.connected').length < 2
  const turns: OracleTurn[] = []
  let begin: number | undefined
  const close = (at: number, end: Event | undefined) => {
    if (begin !== undefined) turns.push(turnIn(events.slice(begin, at), root, end, isWhole))
    begin = undefined
  }
  events.forEach((event, at) => {
    const { type = '', data } = event
    if (type === 'exit') close(at, undefined)
    if (data?.sessionID !== root) return
    if (type === 'session.execution.started') close(at, undefined)
    if (type === 'session.step.ended') begin ??= at
    const changed = type === 'session.inbox.delivery.changed' && items.get(data?.inboxID)
    if (changed && data?.delivery !== undefined) changed.delivery = data.delivery
    if (type === 'session.inbox.delivered') {
      const item = items.get(data?.inboxID)
      if (item) item.read = true
      if (item?.delivery === 'queue' && begin !== undefined) close(at, { type: 'queued' })
      begin ??= at
    }
    if (!/^session\.execution\.(?:succeeded|failed|interrupted)$/.test(type)) return
    const isWaiting = [...items.values()].some(({ type: kind, read }) => kind === 'user' && !read)
    if (begin === undefined && isWaiting && !type.endsWith('succeeded')) begin = at
    close(at, event)
  })
  close(events.length, undefined)
  return turns
}

function turnIn(
  window: readonly Event[],
  root: string | undefined,
  end: Event | undefined,
  isWhole: boolean,
): OracleTurn {
  const family = new Set([root])
  for (const { type, data } of window) {
    if (type === 'session.created' && family.has(data?.parentID)) family.add(data?.sessionID)
  }
  const work = window.filter(({ data }) => family.has(data?.sessionID))
  const texts = work.filter(({ type, data }) => type === 'session.text.ended' && data?.sessionID === root)
  const usage = usageOf(work)
  return {
    outcome: end ? outcomeOf(work, end) : 'crashed',
    ...(end && { text: texts.at(-1)?.data?.text ?? '' }),
    ...(end && isWhole && { tools: callsOf(work) }),
    ...(usage && { usage }),
  }
}

function outcomeOf(work: readonly Event[], { type, data }: Event): string {
  const last = work.findLast((event) => event.type === 'session.step.ended')?.data?.finish
  const declined = work.some((event) =>
    /^The user (?:declined|dismissed)/.test(event.data?.error?.message ?? ''),
  )
  const planned = work.some((event) => /in Plan mode/.test(event.data?.error?.message ?? ''))
  if (type === 'session.execution.failed')
    return data?.error?.type === 'provider.content-filter' ? 'refused' : 'failed'
  if (type === 'session.execution.interrupted') return declined ? 'completed' : 'interrupted'
  if (planned) return 'denied'
  return last === 'length' ? 'failed' : 'completed'
}

function callsOf(work: readonly Event[]): { name: string; status: string }[] {
  const rejected = rejectedIn(work)
  return work
    .filter(({ type }) => type === 'session.tool.called')
    .map(({ data: call }) => {
      const of = (type: string) =>
        work.find(
          (event) =>
            event.type === type &&
            event.data?.id === call?.id &&
            event.data?.assistantMessageID === call?.assistantMessageID,
        )?.data
      return {
        name: of('session.tool.input.started')?.name ?? '',
        status: statusOf(of('session.tool.success'), of('session.tool.failed'), rejected.has(call?.id)),
      }
    })
}

/** The calls whose request was answered with a rejection. */
function rejectedIn(work: readonly Event[]): Set<string | undefined> {
  const requests = new Set(work.flatMap(({ data }) => (data?.reply === 'reject' ? [data.requestID] : [])))
  return new Set(
    work.flatMap(({ type, data }) =>
      type === 'permission.asked' && requests.has(data?.id) ? [data?.source?.id] : [],
    ),
  )
}

function statusOf(success: Data | undefined, failure: Data | undefined, rejected: boolean): string {
  if (success) return (success.metadata?.exit ?? 0) !== 0 || success.metadata?.error ? 'error' : 'success'
  const { type, message = '' } = failure?.error ?? {}
  if (rejected || /^The user (?:declined|dismissed)|in Plan mode/.test(message)) return 'denied'
  return type === 'aborted' || !failure ? 'cancelled' : 'error'
}

function usageOf(work: readonly Event[]): Record<string, number> | undefined {
  const steps = work.filter(
    ({ type, data }) => /^session\.step\.(?:ended|failed)$/.test(type ?? '') && data?.tokens,
  )
  if (steps.length === 0) return undefined
  const add = (pick: (tokens: Tokens) => number) =>
    steps.reduce((sum, { data }) => sum + (data?.tokens ? pick(data.tokens) : 0), 0)
  const micros = steps.reduce((sum, { data }) => sum + Math.round((data?.cost ?? 0) * 1e6), 0)
  return {
    input: add(({ input }) => input),
    output: add(({ output, reasoning }) => output + reasoning),
    cacheRead: add(({ cache }) => cache.read),
    cacheWrite: add(({ cache }) => cache.write),
    reasoning: add(({ reasoning }) => reasoning),
    total: add(
      ({ input, output, reasoning, cache }) => input + output + reasoning + cache.read + cache.write,
    ),
    costUsd: micros / 1e6,
  }
}
