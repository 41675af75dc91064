import type { Oracle, OracleTurn } from './oracle.ts'

interface Event {
  type?: string
  properties?: {
    sessionID?: string
    info?: Info
    part?: Part
    error?: { name?: string }
  }
}

interface Info {
  id?: string
  role?: string
  parentID?: string
}

interface Part {
  id?: string
  type?: string
  messageID?: string
  tool?: string
  callID?: string
  text?: string
  cost?: number
  time?: { end?: number }
  tokens?: { input: number; output: number; reasoning: number; cache: { read: number; write: number } }
  state?: { status?: string; error?: string; output?: string; metadata?: { exit?: number | null } }
}

const isEvent = (value: unknown): value is Event => typeof value === 'object' && value !== null

/** Reads the events of one server by what its parts and messages were at last, not by how they got there. */
export const oracle: Oracle = ({ messages }) => {
  const events = messages.map(({ value }) => (isEvent(value) ? value : {}))
  const root = events.find(
    ({ type, properties }) => type === 'session.created' && !properties?.info?.parentID,
  )
  const session = root?.properties?.sessionID
  const prompts = new Set(
    events.flatMap(({ properties }) => (properties?.info?.role === 'user' ? [properties.info.id] : [])),
  )
  // Every recording here is one prompt, or a server that was never asked.
  if (session === undefined || prompts.size === 0) return { turns: [] }
  const family = new Set([session, ...childrenOf(events, session)])
  const parts = new Map<string, Part & { session: string }>()
  for (const { properties } of events) {
    const { part, sessionID = '' } = properties ?? {}
    if (part?.id === undefined || prompts.has(part.messageID) || !family.has(sessionID)) continue
    parts.set(part.id, { ...part, session: sessionID })
  }
  const own = [...parts.values()].filter((part) => part.session === session)
  const usage = usageOf([...parts.values()])
  const turn: OracleTurn = {
    outcome: outcomeOf(events, session),
    text: own.filter(({ type, time }) => type === 'text' && time?.end).at(-1)?.text ?? '',
    tools: callsOf([...parts.values()]),
    ...(usage && { usage }),
  }
  return { turns: [turn] }
}

function childrenOf(events: readonly Event[], session: string): string[] {
  return events.flatMap(({ type, properties }) =>
    type === 'session.created' && properties?.info?.parentID === session ? [properties.info.id ?? ''] : [],
  )
}

function callsOf(parts: readonly Part[]): { name: string; status: string }[] {
  return parts
    .filter(({ type }) => type === 'tool')
    .map(({ tool = '', state = {} }) => ({ name: tool, status: statusOf(state) }))
}

function statusOf({ status, error = '', output = '', metadata }: NonNullable<Part['state']>): string {
  if (error.includes('rejected permission')) return 'denied'
  if (output.includes('User aborted')) return 'cancelled'
  return status === 'completed' && !metadata?.exit ? 'success' : 'error'
}

function usageOf(parts: readonly Part[]): Record<string, number> | undefined {
  const steps = parts.filter(({ type }) => type === 'step-finish')
  if (steps.length === 0) return undefined
  const add = (pick: (tokens: NonNullable<Part['tokens']>) => number) =>
    steps.reduce((sum, { tokens }) => sum + (tokens ? pick(tokens) : 0), 0)
  const micros = steps.reduce((sum, { cost = 0 }) => sum + Math.round(cost * 1e6), 0)
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

function outcomeOf(events: readonly Event[], session: string): string {
  const ours = events.filter(({ properties }) => properties?.sessionID === session)
  const failure = ours.find(({ type }) => type === 'session.error')?.properties?.error?.name
  if (failure === 'MessageAbortedError') return 'interrupted'
  if (failure !== undefined) return 'failed'
  return ours.some(({ type }) => type === 'session.idle') ? 'completed' : 'crashed'
}
