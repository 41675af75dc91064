import type { AgentEvent } from '../dialects/ues-event.ts'
import { toMainstemError } from '../model/index.ts'
import { endOf, initOf } from './own-events.ts'
import { inOptionNames } from './request.ts'
import { Run, type RunSetup } from './run.ts'
import { stoppable } from './stoppable.ts'

/** One run as its events. It never rejects: whatever goes wrong is an `error` and a `done`. */
export function runAgent(setup: RunSetup): AsyncGenerator<AgentEvent, void, void> {
  return stoppable((stop) => eventsOf(setup, stop))
}

async function* eventsOf(setup: RunSetup, stop: AbortSignal): AsyncGenerator<AgentEvent, void, void> {
  const { id, options } = setup
  const untold = { agent: id, sessionId: crypto.randomUUID(), startedAt: Date.now(), options }
  const run = options.abortSignal?.aborted ? undefined : await Run.start(setup).catch(toMainstemError)
  if (!(run instanceof Run)) {
    yield initOf(untold)
    yield* endOf(untold, run && inOptionNames(run))
    return
  }
  try {
    yield* run.events(stop)
  } finally {
    await run.end()
  }
}
