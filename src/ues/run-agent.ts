import type { AgentEvent } from '../dialects/ues/ues-event.ts'
import { toMainstemError } from '../model/index.ts'
import { AdapterRun, type RunRequest } from './adapter-run.ts'
import { cancellable } from './cancellable.ts'
import { inOptionNames } from './session-request.ts'
import { endOf, initOf } from './synthetic-events.ts'

/** Runs an agent and streams its events. Never rejects: a failure becomes an `error` and a `done` event. */
export function runAgent(request: RunRequest): AsyncGenerator<AgentEvent, void, void> {
  return cancellable((stop) => eventsOf(request, stop))
}

async function* eventsOf(request: RunRequest, stop: AbortSignal): AsyncGenerator<AgentEvent, void, void> {
  const { id } = request
  // Callers without types may pass `null`, which `AdapterRun` refuses.
  const options = request.options ?? {}
  const unlogged = { agent: id, sessionId: crypto.randomUUID(), startedAt: Date.now(), options }
  const run = options.abortSignal?.aborted
    ? undefined
    : await AdapterRun.start(request).catch(toMainstemError)
  if (!(run instanceof AdapterRun)) {
    yield initOf(unlogged)
    yield* endOf(unlogged, run && inOptionNames(run))
    return
  }
  try {
    yield* run.events(stop)
  } finally {
    await run.end()
  }
}
