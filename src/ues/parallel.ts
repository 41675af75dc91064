import type { AgentEvent } from '../dialects/ues-event.ts'
import { toMainstemError } from '../model/index.ts'
import type { AgentAdapter, AgentOptions } from './adapter.ts'
import { endOf, initOf } from './own-events.ts'
import { stoppable } from './stoppable.ts'

export interface ParallelTask {
  adapter: AgentAdapter
  prompt: string
  options?: AgentOptions
}

type Events = AsyncGenerator<AgentEvent, void, void>

/**
 * Runs all tasks at once and merges their events, told apart by `agent` and `sessionId`. Whoever is ready waits in
 * line, so a busy agent cannot silence another; a task that fails ends alone; leaving the loop stops all of them.
 */
export function runParallel(tasks: readonly ParallelTask[]): Events {
  return stoppable((stop) =>
    merge(
      tasks.map((task) => eventsOf(task, stop)),
      stop,
    ),
  )
}

interface Arrival {
  from: Events
  result: IteratorResult<AgentEvent, void>
}

/** Each stream is asked for one event at a time, and for the next only when that one was taken. */
async function* merge(streams: readonly Events[], stop: AbortSignal): Events {
  const line: Arrival[] = []
  let arrived = Promise.withResolvers<void>()
  const ask = async (from: Events) => {
    line.push({ from, result: await from.next() })
    arrived.resolve()
  }
  stop.addEventListener('abort', () => arrived.resolve(), { once: true })
  try {
    for (const stream of streams) void ask(stream)
    for (let open = streams.length; open > 0 && !stop.aborted; ) {
      const arrival = line.shift()
      if (!arrival) {
        await arrived.promise
        arrived = Promise.withResolvers()
      } else if (arrival.result.done) {
        open--
      } else {
        yield arrival.result.value
        void ask(arrival.from)
      }
    }
  } finally {
    await atMost(GRACE_MS, Promise.allSettled(streams.map((stream) => stream.return())))
  }
}

/** Longer than our own adapters take to end their processes. An adapter that ignores its signal is left behind. */
const GRACE_MS = 12_000

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([work, late.promise])
  clearTimeout(timer)
}

/** The events of one task, whoever made its adapter: it never rejects, and it stops when all do. */
async function* eventsOf({ adapter, prompt, options = {} }: ParallelTask, stop: AbortSignal): Events {
  const abortSignal = options.abortSignal ? AbortSignal.any([options.abortSignal, stop]) : stop
  const startedAt = Date.now()
  let last: AgentEvent | undefined
  try {
    for await (const event of adapter.run(prompt, { ...options, abortSignal })) {
      last = event
      yield event
    }
  } catch (thrown) {
    if (last?.type === 'done') return
    const sessionId = last?.sessionId ?? crypto.randomUUID()
    const untold = { agent: adapter.id, sessionId, startedAt, options }
    if (!last) yield initOf(untold)
    yield* endOf(untold, toMainstemError(thrown))
  }
}
