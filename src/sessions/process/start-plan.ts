import type { Launch, Start } from '../../agents/agent.ts'
import type { ChildKeys, RunContext } from '../../drivers/driver.ts'
import { maskedBlob } from '../../mask/masked-blobs.ts'
import { secretsIn, serverSecrets } from '../../mask/secrets.ts'
import type { ErrorInfo } from '../../model/index.ts'
import type { ValueSink } from '../../model/text/large-value.ts'
import { valueSink } from '../machine/value-sink.ts'
import type { SessionParts } from '../session-parts.ts'
import { prepareLaunch, runContext } from './setup.ts'

/** What to start, and where. */
export interface StartPlan {
  launch: Launch
  context: Omit<RunContext, 'values'>
}

/** Plans a process with the settings that its agent has now. */
export function planStart({ setup, deps }: SessionParts, start: Start): StartPlan | { refused: ErrorInfo } {
  const settings = deps.agentSettings?.(setup.agent.id) ?? {}
  const prepared = prepareLaunch(setup, start, settings, deps)
  if ('refused' in prepared) return prepared
  return { ...prepared, context: runContext(setup, start, settings, deps) }
}

/** The context in which a driver starts a planned process. */
export function contextOf(parts: SessionParts, { context }: StartPlan, isLasting: boolean): RunContext {
  const input = parts.setup.launch === 'oneshot' ? 'whole' : 'open'
  return {
    ...context,
    values: valuesOf(parts),
    protect: (keys) => protect(parts, keys),
    ...(isLasting && { lasting: { input } }),
  }
}

/** Stores the large values of an agent's frames. */
export function valuesOf({ deps, mask }: SessionParts): ValueSink {
  return valueSink({
    blobs: deps.store.blobs,
    newHash: () => deps.newHash(),
    mask: (writer) => maskedBlob(writer, mask),
  })
}

/** Masks the secrets passed to the agent. Never holds text back for a generated login: no principal knows it. */
export function protect(
  { mask, state }: SessionParts,
  { environment, named = [], login = [] }: ChildKeys,
): void {
  mask.add(serverSecrets(state.principal, [...named, ...secretsIn(environment)]))
  mask.add({ lent: login })
}
