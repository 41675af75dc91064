import { setTimeout } from 'node:timers/promises'
import { type Delays, Subscribers } from './readers.ts'
import type { Row } from './row.ts'
import { Server, type Used } from './server.ts'

const AGENTS = 500
const AGENTS_RATE = 20
const READERS = 1_000
const READERS_RATE = 100
const SECONDS = 8
/** Processes that start at the same time. */
const AT_ONCE = 16
const SETTLE_MS = 3_000

interface Load {
  sessions: number
  rate: number
  transport: 'sse' | 'socket'
  readers: number
}

/** 500 agents that write at the same time, each with a subscriber. */
export async function manyAgents(checkout: string): Promise<Row[]> {
  const load = { sessions: AGENTS, rate: AGENTS_RATE, transport: 'sse', readers: 1 } as const
  const { used, delays } = await measure(checkout, load)
  const events = AGENTS * AGENTS_RATE * SECONDS
  const what = `${AGENTS} processes × ${AGENTS_RATE} events/s`
  return [
    ...delayRows(what, delays),
    { what: `${what}: processor, µs an event`, value: (used.ms * 1_000) / events },
    { what: `${what}: main thread, µs an event`, value: (used.main * 1_000) / events },
  ]
}

export async function manySubscribers(checkout: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const transport of ['sse', 'socket'] as const) {
    const { used, delays } = await measure(checkout, {
      sessions: 1,
      rate: READERS_RATE,
      transport,
      readers: READERS,
    })
    const what = `${READERS} subscribers × ${READERS_RATE} events/s, ${transport}`
    const messages = READERS * READERS_RATE * SECONDS
    rows.push(...delayRows(what, delays), {
      what: `${what}: processor, µs a message`,
      value: (used.ms * 1_000) / messages,
    })
  }
  return rows
}

/** What one event costs at the rates of one agent, by thread. */
export async function oneEvent(checkout: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const rate of [100, 10]) {
    const { used, delays } = await measure(checkout, { sessions: 1, rate, transport: 'sse', readers: 1 })
    const events = rate * SECONDS
    const what = `one session × ${rate} events/s`
    for (const [name, ms] of Object.entries({
      'processor, ms an event': used.ms,
      'main thread': used.main,
      'writer thread': used.writer,
      'search thread': used.search,
      'times a thread went to sleep, an event': used.waits,
    }))
      rows.push({ what: `${what}: ${name}`, value: ms / events })
    rows.push(...delayRows(what, delays))
  }
  return rows
}

async function measure(checkout: string, load: Load): Promise<{ used: Used; delays: Delays }> {
  const { sessions, rate, transport, readers } = load
  await using server = await Server.start(checkout, { rate, seconds: SECONDS })
  const paths: string[] = []
  for (let index = 0; index < sessions; index++)
    paths.push(await server.session({ agent: 'claude', launch: 'live' }))
  const all = paths.flatMap((path) => Array.from({ length: readers }, () => path))
  using subscribers = await Subscribers.open({ url: server.url, transport, paths: all })
  const begin = async (path: string) => server.call('POST', `${path}/turns`, { prompt: 'go' })
  // The first turn starts the processes.
  const started = subscribers.turn()
  for (let first = 0; first < paths.length; first += AT_ONCE)
    await Promise.all(paths.slice(first, first + AT_ONCE).map(begin))
  await started
  await setTimeout(SETTLE_MS)
  const before = server.used()
  const ended = subscribers.turn()
  await Promise.all(paths.map(begin))
  const delays = await ended
  const after = server.used()
  const keys = Object.keys(before) as (keyof Used)[]
  const used = Object.fromEntries(keys.map((key) => [key, after[key] - before[key]])) as Record<
    keyof Used,
    number
  >
  return { used, delays }
}

function delayRows(what: string, { p50, p99 }: Delays): Row[] {
  return [
    { what: `${what}: p50, ms`, value: p50 },
    { what: `${what}: p99, ms`, value: p99 },
  ]
}
