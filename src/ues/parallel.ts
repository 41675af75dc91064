import type { AgentEvent } from '../dialects/ues/ues-event.ts'
import { toMainstemError } from '../model/index.ts'
import type { AgentAdapter, AgentOptions } from './adapter.ts'
import { cancellable } from './cancellable.ts'
import { endOf, initOf } from './synthetic-events.ts'

/** A prompt for one agent. */
export interface ParallelTask {
  /** The adapter of the agent. */
  adapter: AgentAdapter
  /** The text of the prompt. */
  prompt: string
  /** The options of the run. */
  options?: AgentOptions
}

type Events = AsyncGenerator<AgentEvent, void, void>

/**
 * Runs all tasks at once and merges their events; `sessionId` and `agent` identify the task of an event. Events are
 * queued fairly, so that a busy agent does not starve the others. A failed task does not affect the others. Leaving the
 * loop stops all tasks.
 */
export function runParallel(tasks: readonly ParallelTask[]): Events {
  return cancellable((stop) =>
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

/** Requests one event at a time from each stream, and the next one only after the consumer took the last. */
async function* merge(streams: readonly Events[], stop: AbortSignal): Events {
  const queue: Arrival[] = []
  let arrived = Promise.withResolvers<void>()
  const request = async (from: Events) => {
    queue.push({ from, result: await from.next() })
    arrived.resolve()
  }
  stop.addEventListener('abort', () => arrived.resolve(), { once: true })
  try {
    for (const stream of streams) void request(stream)
    for (let open = streams.length; open > 0 && !stop.aborted; ) {
      const arrival = queue.shift()
      if (!arrival) {
        await arrived.promise
        arrived = Promise.withResolvers()
      } else if (arrival.result.done) {
        open--
      } else {
        yield arrival.result.value
        void request(arrival.from)
      }
    }
  } finally {
    await atMost(GRACE_MS, Promise.allSettled(streams.map((stream) => stream.return())))
  }
}

/** Longer than our adapters take to end their processes. An adapter that ignores its signal is abandoned. */
const GRACE_MS = 12_000

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([work, late.promise])
  clearTimeout(timer)
}

/** The events of one task. Never rejects, also if the adapter is not ours and throws. Stops with all tasks. */
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
    const unlogged = { agent: adapter.id, sessionId, startedAt, options }
    if (!last) yield initOf(unlogged)
    yield* endOf(unlogged, toMainstemError(thrown))
  }
}
