import type { Event } from '../event.types.ts'
import type { ContextUsage } from './context-usage.types.ts'

/** The context after an event; the same value if the event says nothing about it. */
export function contextAfter(context: ContextUsage | undefined, event: Event): ContextUsage | undefined {
  if (event.type === 'context.compacted') return known(event.after, context?.size)
  if (event.type !== 'usage.reported' || event.scope === 'subagent') return context
  // A model call reads the whole conversation, and its answer joins it.
  const called = event.scope === 'step' ? event.total : undefined
  const used = event.contextUsed ?? called ?? context?.used
  const size = event.contextSize ?? context?.size
  return used === context?.used && size === context?.size ? context : known(used, size)
}

function known(used: number | undefined, size: number | undefined): ContextUsage | undefined {
  if (used === undefined && size === undefined) return undefined
  return { ...(used !== undefined && { used }), ...(size !== undefined && { size }) }
}
